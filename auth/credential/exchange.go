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
	// TypeJWT is a JWT of any meaning.
	TypeJWT = "urn:ietf:params:oauth:token-type:jwt"
)

// Exchange describes a token exchange, RFC 8693.
type Exchange struct {
	// SubjectType is "subject_token_type". Default: TypeAccessToken.
	SubjectType string
	// Requested is "requested_token_type". Default: none is sent, and an access token or a JWT is accepted.
	Requested string
	// Accept are audiences that stand for those asked for, where the
	// authorization server writes another name into its tokens.
	Accept []string
}

// maxCallers is how many callers' tokens are kept for one credential: 16 MiB,
// with tokens of one kilobyte.
const maxCallers = 10_000

// exchange is what a token exchange has besides other grants: a token for each
// caller. Two credentials share nothing, so audience and scopes are the same
// for all tokens of one.
type exchange struct {
	subject   func(ctx context.Context) (token, key string, ok bool)
	requested string
	audiences []string // one of which a token must be for
	callers   callers
}

func newExchange(o Options, form url.Values) (*exchange, error) {
	x := o.OAuth.Exchange
	e := &exchange{
		subject: o.Subject, requested: x.Requested, audiences: slices.Concat(o.OAuth.Audiences, o.OAuth.Resources, x.Accept),
		callers: callers{most: maxCallers},
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
		// Without one, what comes back may be good for everything that the caller's own token is good for.
		err = errors.Join(err, errors.New("credential: a token exchange needs an audience or a resource"))
	}
	return e, err
}

// cell returns the caller's cell and token; false: there is no caller.
func (e *exchange) cell(ctx context.Context, now time.Time) (*cell, string, bool) {
	subject, key, ok := e.subject(ctx)
	if !ok || subject == "" || key == "" {
		return nil, "", false
	}
	// The token is part of the key: one caller may hold two, and what came of the
	// one that may do more must not be used for the other.
	return e.callers.cell(callerKey{principal: key, token: sha256.Sum256([]byte(subject))}, now), subject, true
}

// refuses says why the token of an answer is not to be used, or "".
func (e *exchange) refuses(got *oauth2.Token, subject string) string {
	if got.AccessToken == subject {
		return "it is the caller's own token" // T1: that one goes to no service
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
		// No access token, and the operator asked for exactly that: to be sent as if it were one.
	default:
		return "it is not a bearer token"
	}
	if audience, ok := audienceOf(got.AccessToken); ok && !slices.ContainsFunc(audience, func(a string) bool { return slices.Contains(e.audiences, a) }) {
		return "it is for another audience than was asked for" // E7
	}
	return ""
}

// audienceOf reads "aud" of a token that is a JWT. Its signature does not
// matter: it came from the authorization server itself.
func audienceOf(token string) (audience []string, ok bool) {
	parts := strings.SplitN(token, ".", 4) // a token may be of dots alone
	if len(parts) != 3 {
		return nil, false
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return nil, false
	}
	var claims struct {
		Audience json.RawMessage `json:"aud"`
	}
	if json.Unmarshal(payload, &claims) != nil {
		return nil, false
	}
	var one string
	if json.Unmarshal(claims.Audience, &one) == nil {
		return []string{one}, true
	}
	_ = json.Unmarshal(claims.Audience, &audience) // neither: it is for nobody
	return audience, true
}
