package relyingparty

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"drawbridge/openapi/origin"
)

// provider is an OpenID provider as its metadata describe it. It is immutable.
type provider struct {
	since       time.Time // of the metadata
	oauth       oauth2.Config
	verifier    *oidc.IDTokenVerifier // nil without ID tokens
	sendsIssuer bool                  // in its responses (RFC 9207)
}

// discover reads the metadata of a provider.
func discover(ctx context.Context, o *Options) (*provider, error) {
	c := &o.Client
	found, err := oidc.NewProvider(oidc.ClientContext(ctx, c.HTTP), c.Issuer)
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
	endpoint.AuthStyle = authStyle(c.Secret, metadata.Methods)
	return &provider{
		since: o.Now(), sendsIssuer: metadata.SendsIssuer,
		oauth: oauth2.Config{
			ClientID: c.ID, ClientSecret: c.Secret, Endpoint: endpoint, RedirectURL: c.RedirectURI,
			Scopes: append([]string{oidc.ScopeOpenID}, slices.DeleteFunc(slices.Clone(c.Scopes), func(s string) bool { return s == oidc.ScopeOpenID })...),
		},
		verifier: found.Verifier(&oidc.Config{ClientID: c.ID, Now: o.Now}),
	}, nil
}

// configured returns an authorization server that is no OpenID provider.
func configured(c *Client) *provider {
	return &provider{oauth: oauth2.Config{ClientID: c.ID, ClientSecret: c.Secret, Endpoint: *c.Endpoint, RedirectURL: c.RedirectURI, Scopes: c.Scopes}}
}

// authStyle returns how the client authenticates itself. It is never tried out: a code can be used once.
func authStyle(secret string, methods []string) oauth2.AuthStyle {
	if secret == "" || len(methods) > 0 && !slices.Contains(methods, "client_secret_basic") {
		return oauth2.AuthStyleInParams
	}
	return oauth2.AuthStyleInHeader // the default of OpenID Connect Core section 9
}

var errNoIDToken = errors.New("the response has no id_token")

// verify verifies the ID token of a response and returns its claims.
func (at *provider) verify(ctx context.Context, token *oauth2.Token, nonce, clientID string) (map[string]any, error) {
	raw, _ := token.Extra("id_token").(string)
	if raw == "" {
		return nil, unavailable(errNoIDToken, "The provider's response has no ID token.")
	}
	verified, err := at.verifier.Verify(ctx, raw)
	if err != nil {
		return nil, unavailable(errors.New(shorten(err.Error())), "The provider's ID token is not valid here. The log says why.")
	}
	var claims map[string]any
	if err := verified.Claims(&claims); err != nil {
		return nil, unavailable(err, "The provider's ID token can't be read.")
	}
	switch azp, ok := claims["azp"]; {
	case verified.Nonce != nonce:
		return nil, failed("The ID token is for another sign-in. Begin again.")
	case ok && azp != clientID: // OpenID Connect Core section 3.1.3.7
		return nil, failed("The ID token was issued to another client.")
	case verified.Subject == "":
		return nil, unavailable(nil, "The provider's ID token has no subject.")
	}
	return claims, nil
}
