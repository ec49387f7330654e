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

// inbound is what goes on to a service of the request of a caller, and what must not.
type inbound struct {
	header http.Header
	guard  *auth.Guard // nil: nobody is asked for a token
}

type inboundKey struct{}

// inboundFrom returns the headers of the caller's request.
func inboundFrom(ctx context.Context) http.Header {
	if in, ok := ctx.Value(inboundKey{}).(*inbound); ok {
		return in.header
	}
	return nil
}

// passed says which headers of callers go on to the service. What can't is told with its place in the configuration where it has
// one of its own.
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

// isForGateway tells whether what a caller has sent as a credential for the service is one for the gateway: the token that it has
// presented, or another that would be accepted (T1). The scheme in front of it does not matter.
func isForGateway(ctx context.Context, value string) bool {
	in, _ := ctx.Value(inboundKey{}).(*inbound)
	return in.holds(ctx, value)
}

// checkPassed is for what is sent later, without the caller's request at hand: it tells whether a header holds a token for the
// gateway. The error is for the client.
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

// holds tells whether a value holds a token for the gateway. The receiver may be nil.
func (in *inbound) holds(ctx context.Context, value string) bool {
	if in == nil {
		return false
	}
	texts := append(strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(" \t,;\"'=:", r) }), strings.Fields(value)...)
	for _, text := range strings.Fields(value) {
		if pair, err := base64.StdEncoding.DecodeString(text); err == nil { // as Basic has it
			texts = append(texts, strings.FieldsFunc(string(pair), func(r rune) bool { return r == ':' })...)
		}
	}
	const short = 16 // what is shorter may be part of another word
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
