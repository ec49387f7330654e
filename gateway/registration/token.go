package registration

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"drawbridge/auth/oauthserver"
	"drawbridge/auth/relyingparty"
)

// tokens is the response of the token endpoint (RFC 6749 section 5.1). It has no ID token: the provider's is issued to the gateway.
type tokens struct {
	AccessToken  string `json:"access_token"`
	TokenType    string `json:"token_type"`
	ExpiresIn    int64  `json:"expires_in,omitempty"`
	RefreshToken string `json:"refresh_token,omitempty"`
	Scope        string `json:"scope,omitempty"`
}

// serveToken is the token endpoint (RFC 6749 section 3.2).
func (s *Server) serveToken(w http.ResponseWriter, r *http.Request, g *generation) {
	issued, p := s.token(w, r, g)
	if p != nil {
		if p.Status == http.StatusServiceUnavailable {
			w.Header().Set("Retry-After", "5")
		}
		p.Write(w)
		return
	}
	w.Header().Set("Pragma", "no-cache") // RFC 6749 section 5.1
	oauthserver.WriteJSON(w, http.StatusOK, issued)
}

func (s *Server) token(w http.ResponseWriter, r *http.Request, g *generation) (*tokens, *oauthserver.Error) {
	form, p := oauthserver.ReadForm(w, r)
	if p != nil {
		return nil, p
	}
	id := form.Get("client_id")
	switch {
	case r.Header["Authorization"] != nil || form.Get("client_secret") != "":
		p := oauthserver.NewError(oauthserver.InvalidClient, "all clients are public and have no secret: send client_id alone")
		p.Status = http.StatusUnauthorized
		return nil, p
	case id == "":
		return nil, oauthserver.NewError(oauthserver.InvalidRequest, "no client_id")
	case !s.isClient(id):
		return nil, unknownClient()
	}
	switch kind := form.Get("grant_type"); kind {
	case "":
		return nil, oauthserver.NewError(oauthserver.InvalidRequest, "no grant_type")
	case oauthserver.GrantCode:
		return s.redeemCode(r.Context(), g, id, form)
	case oauthserver.GrantRefresh:
		return s.redeemRefresh(r.Context(), g, id, form)
	default:
		return nil, oauthserver.NewError("unsupported_grant_type", "grant_type '%s' is not supported", kind)
	}
}

// redeemCode serves the grant authorization_code (OAuth 2.1 section 4.1.3). The seal of a code opens only with the client ID, the redirect
// URI and the verifier that belong to it: another client, another redirect URI and another verifier all fail in the same way. It counts as
// used only after the provider has answered, so that a client can present it again if the provider was down; the provider takes its own
// code only once.
func (s *Server) redeemCode(ctx context.Context, g *generation, id string, form oauthserver.Parameters) (*tokens, *oauthserver.Error) {
	if form.Get("code") == "" || form.Get("redirect_uri") == "" {
		return nil, oauthserver.NewError(oauthserver.InvalidRequest, "no code or no redirect_uri")
	}
	if p := oauthserver.CheckVerifier(form); p != nil {
		return nil, p
	}
	var c code
	err := s.seals.open(form.Get("code"), "code", &c, digest(id), form.Get("redirect_uri"), oauthserver.Challenge(form.Get("code_verifier")))
	if err != nil || s.seals.expired(c.Until) {
		return nil, oauthserver.NewError(oauthserver.InvalidGrant, "the code has expired, or is not for this client, redirect_uri and code_verifier")
	}
	if p := checkResource(form, c.Resource); p != nil {
		return nil, p
	}
	got, err := g.party.Redeem(ctx, &c.Login)
	if err != nil {
		return nil, s.providerFailed(ctx, err)
	}
	if p := s.spend(ctx, id, "code "+c.ID, time.Unix(c.Until, 0)); p != nil {
		return nil, p
	}
	return s.issue(ctx, g, id, got, c.Resource, c.Refresh)
}

// redeemRefresh serves the grant refresh_token (RFC 6749 section 6). The client gets another refresh token, and can't use this one again,
// even if the provider's is the same. It counts as used only after the provider has answered, so that a client keeps its login while the
// provider is down.
func (s *Server) redeemRefresh(ctx context.Context, g *generation, id string, form oauthserver.Parameters) (*tokens, *oauthserver.Error) {
	var held refresh
	switch {
	case form.Get("refresh_token") == "":
		return nil, oauthserver.NewError(oauthserver.InvalidRequest, "no refresh_token")
	case s.seals.open(form.Get("refresh_token"), "refresh", &held, digest(id)) != nil:
		return nil, oauthserver.NewError(oauthserver.InvalidGrant, "the refresh token is not one of this client, or the keys of the gateway have changed")
	}
	if p := checkResource(form, held.Resource); p != nil {
		return nil, p
	}
	got, err := g.party.Refresh(ctx, held.Token)
	if err != nil {
		return nil, s.providerFailed(ctx, err)
	}
	if p := s.spend(ctx, id, "refresh "+held.ID, s.o.Now().Add(refreshMemory)); p != nil {
		return nil, p
	}
	return s.issue(ctx, g, id, got, held.Resource, true)
}

// checkResource checks that a token request names no other resource than the authorization request did (RFC 8707 section 2.2).
func checkResource(form oauthserver.Parameters, granted string) *oauthserver.Error {
	for _, resource := range form.All("resource") {
		if strings.TrimSuffix(resource, "/") != granted {
			return oauthserver.NewError(oauthserver.InvalidTarget, "resource '%s' is not the one that was authorized", resource)
		}
	}
	return nil
}

// spend uses up a code or refresh token.
func (s *Server) spend(ctx context.Context, clientID, id string, until time.Time) *oauthserver.Error {
	first, err := s.o.Spent.Spend(ctx, "registration "+digest(clientID), id, until)
	switch {
	case err != nil:
		s.o.Log.WarnContext(ctx, "it is not known whether a code or refresh token was used before", "error", err)
		return &oauthserver.Error{Status: http.StatusServiceUnavailable, Code: temporarilyUnavailable, Description: "try again"}
	case !first:
		s.o.Log.WarnContext(ctx, "a code or refresh token was used twice", "kind", strings.Fields(id)[0])
		return oauthserver.NewError(oauthserver.InvalidGrant, "it was used before")
	}
	return nil
}

// issue returns the provider's tokens as those of the client, once the gateway has verified that it accepts the access token: the client
// must not get a token for another service of the provider, and would log in again and again with one that is not accepted.
func (s *Server) issue(ctx context.Context, g *generation, id string, got *relyingparty.Tokens, resource string, mayRefresh bool) (*tokens, *oauthserver.Error) {
	serverError := func(description string) *oauthserver.Error {
		return &oauthserver.Error{Status: http.StatusBadGateway, Code: "server_error", Description: description}
	}
	if kind := got.Type(); kind != "Bearer" {
		return nil, serverError("the provider's token is not a bearer token")
	}
	if err := s.o.Verify(ctx, resource, got.AccessToken); err != nil {
		s.o.Log.ErrorContext(ctx, "the provider issued an access token that is not accepted here; check audiences, preset and scopes", "error", err)
		return nil, serverError("the provider issued an access token that this gateway does not accept; its log says why")
	}
	issued := &tokens{AccessToken: got.AccessToken, TokenType: "Bearer", ExpiresIn: got.ExpiresIn}
	if scope, ok := got.Extra("scope").(string); ok {
		issued.Scope = g.clientScopes(scope)
	}
	if got.RefreshToken != "" && mayRefresh {
		var err error
		if issued.RefreshToken, err = s.seals.seal("refresh", refresh{newID(), got.RefreshToken, resource}, digest(id)); err != nil {
			return nil, serverError("the refresh token can't be sealed")
		}
	}
	return issued, nil
}

// providerFailed returns the error of a token request that failed at the provider.
func (s *Server) providerFailed(ctx context.Context, err error) *oauthserver.Error {
	s.o.Log.WarnContext(ctx, "the provider issued no tokens", "reason", err)
	failure := &relyingparty.Failure{Unavailable: true}
	if errors.As(err, &failure); !failure.Unavailable {
		return oauthserver.NewError(oauthserver.InvalidGrant, "%s", failure.Reason)
	}
	return &oauthserver.Error{Status: http.StatusServiceUnavailable, Code: temporarilyUnavailable, Description: "the provider does not answer, or refuses the gateway; its log says why"}
}
