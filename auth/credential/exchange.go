package credential

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"drawbridge/auth"
)

// Token type identifiers, RFC 8693 section 3.
const (
	// TypeAccessToken is an access token of the authorization server.
	TypeAccessToken = "urn:ietf:params:oauth:token-type:access_token"
	// TypeIDToken is an ID token.
	TypeIDToken = "urn:ietf:params:oauth:token-type:id_token"
	// TypeJWT is a JWT of any kind.
	TypeJWT = "urn:ietf:params:oauth:token-type:jwt"
)

// Exchange describes a token exchange (RFC 8693).
type Exchange struct {
	// SubjectType is "subject_token_type". The default is TypeAccessToken.
	SubjectType string
	// Requested is "requested_token_type". By default none is sent, and an access token or a JWT is
	// accepted.
	Requested string
	// Accept are audiences that are accepted instead of the requested ones, for an authorization
	// server that writes other names into its tokens.
	Accept []string
}

// maxCallers is the maximum number of cached tokens per credential: 16 MiB, with tokens of one
// kilobyte.
const maxCallers = 10_000

// exchange is the part of a grant that issues a token for each caller. Credentials do not share
// tokens, so audience and scopes are the same for all tokens of one.
type exchange struct {
	subject   func(ctx context.Context) (token, key string, ok bool)
	parameter string // of the token request that has the caller's token
	rfc8693   bool   // the response has issued_token_type
	requested string
	audiences []string // of which a token must have one
	tokens    tokenCache
}

func newExchange(o Options, form url.Values) (*exchange, error) {
	x := o.OAuth.Exchange
	e := &exchange{
		subject: o.Subject, parameter: "subject_token", rfc8693: true, requested: x.Requested, audiences: slices.Concat(o.OAuth.Audiences, o.OAuth.Resources, x.Accept),
		tokens: tokenCache{maxEntries: maxCallers},
	}
	form.Set("subject_token_type", TypeAccessToken)
	if x.SubjectType != "" {
		form.Set("subject_token_type", x.SubjectType)
	}
	if x.Requested != "" {
		form.Set("requested_token_type", x.Requested)
	}
	var err error
	if o.Subject == nil {
		err = errors.New("credential: a token exchange needs the subject")
	}
	if len(o.OAuth.Audiences)+len(o.OAuth.Resources) == 0 {
		// Without one, the issued token may be valid for everything that the caller's own token is
		// valid for.
		err = errors.Join(err, errors.New("credential: a token exchange needs an audience or a resource"))
	}
	return e, err
}

// source returns the caller's tokenSource and token; false if there is no caller.
func (e *exchange) source(ctx context.Context, now time.Time) (*tokenSource, string, bool) {
	subject, key, ok := e.subject(ctx)
	if !ok || subject == "" || key == "" {
		return nil, "", false
	}
	// The token is part of the key: one caller may hold two, and the result for the more powerful
	// one must not be used for the other.
	return e.tokens.source(tokenKey{principal: key, token: sha256.Sum256([]byte(subject))}, now), subject, true
}

// rejectReason returns the reason that an issued token must not be used, or "".
func (e *exchange) rejectReason(got *oauth2.Token, subject string) string {
	if got.AccessToken == subject {
		return "it is the caller's own token" // which must not be sent to a service (T1)
	}
	if !e.rfc8693 {
		return e.rejectAudience(got.AccessToken, subject)
	}
	issued, _ := got.Extra("issued_token_type").(string)
	want := []string{TypeAccessToken, TypeJWT}
	if e.requested != "" {
		want = []string{e.requested}
	}
	switch {
	case issued == "": // RFC 8693 section 2.2.1: required
		return "its issued_token_type is missing"
	case !slices.Contains(want, issued):
		return "its issued_token_type is not what was asked for"
	case auth.IsBearerType(got.TokenType):
	case strings.EqualFold(got.TokenType, "N_A") && issued != TypeAccessToken && issued == e.requested:
		// Not an access token, but the configuration requests exactly that: it is sent as one.
	default:
		return "it is not a bearer token"
	}
	return e.rejectAudience(got.AccessToken, subject)
}

// rejectAudience returns the reason that a token must not be used because of its audience, or "".
func (e *exchange) rejectAudience(token, subject string) string {
	audience, ok := audienceOf(token)
	switch {
	case !ok:
	case len(e.audiences) > 0 && !slices.ContainsFunc(audience, func(a string) bool { return slices.Contains(e.audiences, a) }):
		return "it is for another audience than was asked for" // E7
	case len(e.audiences) == 0: // a scope names the service, and only its authorization server knows its audience
		if own, _ := audienceOf(subject); slices.ContainsFunc(audience, func(a string) bool { return slices.Contains(own, a) }) {
			return "it is for the gateway itself, like the caller's own"
		}
	}
	return ""
}

// claimsOf decodes the claims of a token that is a JWT into a pointer to a struct. The signature is
// not verified, because the token comes from the authorization server itself, or was verified before.
func claimsOf(token string, claims any) bool {
	parts := strings.SplitN(token, ".", 4) // a token may consist of dots only
	if len(parts) != 3 {
		return false
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	return err == nil && json.Unmarshal(payload, claims) == nil
}

// audienceOf returns "aud" of a token that is a JWT.
func audienceOf(token string) (audience []string, ok bool) {
	var claims struct {
		Audience json.RawMessage `json:"aud"`
	}
	if !claimsOf(token, &claims) {
		return nil, false
	}
	var one string
	if json.Unmarshal(claims.Audience, &one) == nil {
		return []string{one}, true
	}
	_ = json.Unmarshal(claims.Audience, &audience) // otherwise the audience is empty
	return audience, true
}
