package source

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"drawbridge/auth"
	"drawbridge/auth/credential"
	"drawbridge/config"
)

// Inbound holds the headers of a caller's request, and the guard that recognizes tokens that must not reach the
// service.
type Inbound struct {
	Header http.Header
	// Guard is nil if the endpoint requires no token.
	Guard *auth.Guard
}

type inboundKey struct{}

// Context returns the context of calls that pass on headers of the request.
func (in *Inbound) Context(ctx context.Context) context.Context {
	return context.WithValue(ctx, inboundKey{}, in)
}

// inboundFrom returns the headers of the caller's request.
func inboundFrom(ctx context.Context) http.Header {
	if in, ok := ctx.Value(inboundKey{}).(*Inbound); ok {
		return in.Header
	}
	return nil
}

// passed returns the options for passing headers of callers through to the service. A header that can't be passed is a
// problem, reported with its own configuration key if it has one.
func (a *upstreamAuth) passed(c config.API, to *url.URL, problem func(key string, err error)) credential.PassThroughOptions {
	o := credential.PassThroughOptions{Inbound: inboundFrom, IsGatewayToken: isForGateway, Origin: to}
	for i, h := range c.PassHeaders {
		one := credential.PassedHeader{From: h.From, To: h.To, Credential: h.IsCredential()}
		if one.Credential {
			from, to := credential.CheckPassedHeader(one)
			problem(fmt.Sprintf("pass_headers[%d].from", i), from)
			if problem(fmt.Sprintf("pass_headers[%d].to", i), to); from != nil || to != nil {
				continue
			}
		}
		o.Headers = append(o.Headers, one)
	}
	return o
}

// isForGateway reports whether a value that a caller sent as a credential for the service is meant for the gateway: the
// token that it has presented, or another that would be accepted (T1). The scheme before the token does not matter.
func isForGateway(ctx context.Context, value string) bool {
	in, _ := ctx.Value(inboundKey{}).(*Inbound)
	return in.HoldsGatewayToken(ctx, value)
}

// HoldsGatewayToken reports whether a value contains a token for the gateway. The receiver may be nil.
func (in *Inbound) HoldsGatewayToken(ctx context.Context, value string) bool {
	if in == nil {
		return false
	}
	texts := append(strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(" \t,;\"'=:", r) }), strings.Fields(value)...)
	for _, text := range strings.Fields(value) {
		if pair, err := base64.StdEncoding.DecodeString(text); err == nil { // credentials of the Basic scheme
			texts = append(texts, strings.FieldsFunc(string(pair), func(r rune) bool { return r == ':' })...)
		}
	}
	const short = 16 // a shorter token may be part of another word
	for _, presented := range slices.Concat(in.Header["Authorization"], in.Guard.APIKeys(in.Header)) {
		_, token, found := strings.Cut(presented, " ")
		if token = strings.TrimSpace(token); !found {
			token = presented
		}
		for _, text := range append(texts, value) {
			if text == token || len(token) >= short && strings.Contains(text, token) {
				return true
			}
		}
	}
	if in.Guard == nil {
		return false
	}
	for _, text := range texts {
		if in.Guard.IsAccessToken(ctx, text) {
			return true
		}
	}
	return false
}
