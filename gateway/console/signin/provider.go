package signin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"drawbridge/config"
	"drawbridge/openapi/origin"
	"drawbridge/openapi/text"
)

// provider is an OpenID provider with its metadata, for one configuration and one URL of the console.
type provider struct {
	config *config.ConsoleOIDC
	base   string // URL of the console
	client *http.Client
	now    func() time.Time
	issuer string

	tried time.Time // of the last discovery
	err   error     // of the last discovery

	discovered  time.Time
	oauth       oauth2.Config
	verifier    *oidc.IDTokenVerifier // nil before the first discovery
	sendsIssuer bool                  // in its responses (RFC 9207)
}

// discover reads the metadata of the provider.
func (p *provider) discover(ctx context.Context) (*provider, error) {
	found, err := oidc.NewProvider(oidc.ClientContext(ctx, p.client), p.issuer)
	if err != nil {
		return nil, errors.New(shorten(err.Error())) // the text has the whole response
	}
	var metadata struct {
		Keys        string   `json:"jwks_uri"`
		Methods     []string `json:"token_endpoint_auth_methods_supported"`
		SendsIssuer bool     `json:"authorization_response_iss_parameter_supported"`
	}
	if err := found.Claims(&metadata); err != nil {
		return nil, fmt.Errorf("the provider's metadata: %w", err)
	}
	endpoint := found.Endpoint()
	for name, location := range map[string]string{"authorization_endpoint": endpoint.AuthURL, "token_endpoint": endpoint.TokenURL, "jwks_uri": metadata.Keys} {
		if u, err := url.Parse(location); err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && !(u.Scheme == "http" && origin.Loopback(u.Hostname())) {
			return nil, fmt.Errorf("the provider's metadata: %s must be https, or http for a loopback host", name)
		}
	}
	endpoint.AuthStyle = authStyle(p.config, metadata.Methods)
	return &provider{
		config: p.config, base: p.base, client: p.client, now: p.now, issuer: p.issuer, tried: p.tried, discovered: p.tried, sendsIssuer: metadata.SendsIssuer,
		oauth: oauth2.Config{
			ClientID: p.config.ClientID, ClientSecret: p.config.ClientSecret.Reveal(), Endpoint: endpoint, RedirectURL: p.base + CallbackPath, Scopes: scopesOf(p.config),
		},
		verifier: found.Verifier(&oidc.Config{ClientID: p.config.ClientID, Now: p.now}),
	}, nil
}

// authStyle returns how the client authenticates itself. It is never tried out: a code can be used once.
func authStyle(c *config.ConsoleOIDC, methods []string) oauth2.AuthStyle {
	if c.ClientSecret.IsZero() || len(methods) > 0 && !slices.Contains(methods, "client_secret_basic") {
		return oauth2.AuthStyleInParams
	}
	return oauth2.AuthStyleInHeader // the default of OpenID Connect Core section 9
}

// scopesOf returns the scopes to request.
func scopesOf(c *config.ConsoleOIDC) []string {
	scopes := c.Scopes
	if len(scopes) == 0 {
		scopes = []string{"profile"}
	}
	return append([]string{oidc.ScopeOpenID}, slices.DeleteFunc(slices.Clone(scopes), func(s string) bool { return s == oidc.ScopeOpenID })...)
}

// claims redeems a code, and returns the claims of the ID token once it is verified.
func (p *provider) claims(ctx context.Context, code string, f *flow) (map[string]any, error) {
	ctx, cancel := context.WithTimeout(context.WithValue(ctx, oauth2.HTTPClient, p.client), 2*providerTimeout)
	defer cancel()
	token, err := p.oauth.Exchange(ctx, code, oauth2.VerifierOption(f.Verifier))
	if err != nil {
		return nil, exchangeError(err)
	}
	raw, _ := token.Extra("id_token").(string)
	if raw == "" {
		return nil, unavailable(errNoIDToken, "The provider's response has no ID token.")
	}
	verified, err := p.verifier.Verify(ctx, raw)
	if err != nil {
		return nil, unavailable(errors.New(shorten(err.Error())), "The provider's ID token is not valid here. The log says why.")
	}
	var claims map[string]any
	if err := verified.Claims(&claims); err != nil {
		return nil, unavailable(err, "The provider's ID token can't be read.")
	}
	switch azp, ok := claims["azp"]; {
	case verified.Nonce != f.Nonce:
		return nil, failed(nil, "The ID token is for another sign-in. Begin again.")
	case ok && azp != p.config.ClientID: // OpenID Connect Core section 3.1.3.7
		return nil, failed(nil, "The ID token was issued to another client.")
	case verified.Subject == "":
		return nil, unavailable(nil, "The provider's ID token has no subject.")
	}
	return claims, nil
}

// exchangeError returns the error of a code that can't be redeemed, without the body of the response.
func exchangeError(err error) error {
	var retrieve *oauth2.RetrieveError
	if !errors.As(err, &retrieve) {
		return unavailable(errors.New(shorten(err.Error())), "The provider does not answer. The log says why.")
	}
	cause := fmt.Errorf("token endpoint: status %d, error %q", retrieve.Response.StatusCode, shorten(retrieve.ErrorCode))
	if retrieve.ErrorCode == "invalid_grant" {
		return failed(cause, "The code of this sign-in is no longer valid. Begin again.")
	}
	return unavailable(cause, "The provider does not accept this gateway as its client. The log says why.")
}

// shorten shortens a text of a provider for the log.
func shorten(raw string) string {
	const limit = 300
	return text.Truncate(raw, limit)
}

// nameOf returns the name of a person for logs. It ends with the subject, which alone is unique and chosen by the provider.
func nameOf(claims map[string]any) string {
	subject, _ := claims["sub"].(string)
	name := "oidc:" + printable(subject)
	for _, claim := range []string{"preferred_username", "email"} {
		if text, _ := claims[claim].(string); printable(text) != "" {
			return printable(text) + " (" + name + ")"
		}
	}
	return name
}

// printable returns a text without spaces, parentheses and what can't be seen.
func printable(raw string) string {
	const limit = 100
	return text.Truncate(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || unicode.IsSpace(r) || strings.ContainsRune("()\uFFFD", r) {
			return -1
		}
		return r
	}, raw), limit)
}
