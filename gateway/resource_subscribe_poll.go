package gateway

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"net/http"
	"time"

	"drawbridge/auth"
	"drawbridge/gateway/cache"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/telemetry"
	"drawbridge/openapi/answer"
)

// read finds the current state of the resource. The request is conditional if the last response permits it (RFC 9110 section
// 13.1); otherwise, and for services that ignore conditions, the digest of the response detects changes. A missing resource is
// a state, too.
func (w *watches) read(ctx context.Context, gen *generation, x *watch, m *member, p *Plan, args []byte, known *seen) (err error) {
	ctx = context.WithValue(auth.WithCallerOf(ctx, m.caller), requestInfoKey{}, &requestInfo{name: x.endpoint})
	c := call{
		g: w.g, ctx: ctx, plan: p, endpoint: gen.endpoint(x.endpoint).callEndpoint, caller: auth.FromContext(m.caller), extra: known.validators,
		req: &mcp.Request{
			Method: "resources/read", Family: mcp.Stateless, Revision: m.viewer.Revision, Principal: m.viewer.Principal, URI: x.uri,
			HTTP: &http.Request{Header: m.inbound},
		},
	}
	c.anew = true
	c.enter()
	defer func() { c.leave(err) }()
	if c.callRecord != nil {
		c.callRecord.rpc = "watch"
	}
	end, err := c.begin()
	if err != nil {
		return err
	}
	defer end()
	parts, resp, err := c.collect(args) //nolint:bodyclose // it was read
	switch {
	case resp != nil && resp.StatusCode == http.StatusNotModified && known.validators != nil:
		return nil
	case resp != nil && (resp.StatusCode == http.StatusNotFound || resp.StatusCode == http.StatusGone):
		if c.callRecord != nil {
			c.callRecord.outcome = telemetry.OutcomeClientError
		}
		known.known, known.digest, known.validators = true, [32]byte{}, nil
		return nil
	case err != nil:
		return err
	}
	digest := digestOf(parts)
	if p.cachePolicy != nil && known.known && known.digest != digest {
		w.g.answers.Changed(c.ctx, p.source.CacheGroup, c.target) // subscribers that are notified read the new state
	}
	known.known, known.digest, known.validators = true, digest, cache.Validators(resp.Header)
	return nil
}

// digestOf returns a digest that identifies a response.
func digestOf(parts []answer.Part) (sum [32]byte) {
	h := sha256.New()
	for _, part := range parts {
		for _, piece := range [][]byte{[]byte(part.MediaType), part.Data} {
			h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(piece))))
			h.Write(piece)
		}
	}
	h.Sum(sum[:0])
	return sum
}

// callerUntil returns the time at which the caller's token begins to be rejected; zero without a token.
func callerUntil(caller *auth.Principal) time.Time {
	if caller == nil {
		return time.Time{}
	}
	return caller.Until()
}
