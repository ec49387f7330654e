package account

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/oauth2"

	"drawbridge/config"
)

// revoke revokes the tokens of an account at the service (RFC 7009). A refresh token stands for the access tokens that it has given.
func (s *Service) revoke(ctx context.Context, found *stored) error {
	form := url.Values{"token": {found.Access}, "token_type_hint": {"access_token"}}
	if found.Refresh != "" {
		form = url.Values{"token": {found.Refresh}, "token_type_hint": {"refresh_token"}}
	}
	c := s.credential
	if c.ClientAuth != config.ClientSecretBasic {
		form.Set("client_id", c.ClientID)
	}
	if c.ClientAuth == config.ClientSecretPost {
		form.Set("client_secret", c.ClientSecret.Reveal())
	}
	ctx, cancel := context.WithTimeout(ctx, refreshTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.RevokeURL.String(), strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if c.ClientAuth == config.ClientSecretBasic {
		req.SetBasicAuth(url.QueryEscape(c.ClientID), url.QueryEscape(c.ClientSecret.Reveal())) // RFC 6749 section 2.3.1
	}
	client := *s.client
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse } // the token would travel on
	resp, err := client.Do(req)
	if err != nil {
		return errors.New("the revocation endpoint does not answer")
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, maxToken)) // so that the connection can be used again
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("the revocation endpoint answers with status %d", resp.StatusCode)
	}
	return nil
}

// revokeUnused revokes tokens that the service has given for an account that was revoked meanwhile.
func (s *Service) revokeUnused(ctx context.Context, t *oauth2.Token) {
	if s.credential.RevokeURL.String() == "" {
		return
	}
	if err := s.revoke(ctx, &stored{Access: t.AccessToken, Refresh: t.RefreshToken}); err != nil {
		s.accounts.o.Log.WarnContext(ctx, "tokens of a revoked account could not be revoked at the service", "api", s.api, "reason", err)
	}
}
