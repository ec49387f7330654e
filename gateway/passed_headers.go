package gateway

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"drawbridge/auth"
	"drawbridge/auth/credential"
	"drawbridge/config"
	"drawbridge/gateway/mcp"
)

// inbound holds the headers of a caller's request, and the guard that recognizes tokens that must not reach the
// service.
type inbound struct {
	header http.Header
	guard  *auth.Guard // nil if the endpoint requires no token
}

type inboundKey struct{}

// inboundFrom returns the headers of the caller's request.
func inboundFrom(ctx context.Context) http.Header {
	if in, ok := ctx.Value(inboundKey{}).(*inbound); ok {
		return in.header
	}
	return nil
}

// passed returns the options for passing headers of callers through to the service. A header that can't be passed is a
// problem, reported with its own configuration key if it has one.
func (a *attached) passed(c config.API, to *url.URL, problem func(key string, err error)) credential.PassThroughOptions {
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

// isForGateway reports whether a value that a caller sent as a credential for the service is one for the gateway: the
// token that it has presented, or another that would be accepted (T1). The scheme before the token does not matter.
func isForGateway(ctx context.Context, value string) bool {
	in, _ := ctx.Value(inboundKey{}).(*inbound)
	return in.holds(ctx, value)
}

// checkPassed returns an error for the client if a header holds a token for the gateway. It serves requests that are
// sent later, without the caller's request at hand.
func (p *Plan) checkPassed(ctx context.Context, in *inbound) error {
	for _, h := range p.source.config.PassHeaders {
		for _, value := range in.header[http.CanonicalHeaderKey(h.From)] {
			if h.IsCredential() && in.holds(ctx, value) {
				return mcp.InvalidParams("the header %s holds a token for the gateway, which no service may get", h.From)
			}
		}
	}
	return nil
}

// holds reports whether a value contains a token for the gateway. The receiver may be nil.
func (in *inbound) holds(ctx context.Context, value string) bool {
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
	for _, presented := range in.header["Authorization"] {
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
	if in.guard == nil {
		return false
	}
	for _, text := range texts {
		if in.guard.Accepts(ctx, text) {
			return true
		}
	}
	return false
}
