package resource

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"net/http"
	"time"

	"drawbridge/auth"
	"drawbridge/gateway/cache"
	"drawbridge/gateway/call"
	"drawbridge/gateway/inbound"
	"drawbridge/gateway/plan"
	"drawbridge/openapi/answer"
)

// read finds the current state of the resource. The request is conditional if the last response permits it (RFC 9110 section
// 13.1); otherwise, and for services that ignore conditions, the digest of the response detects changes. A missing resource is
// a state, too.
func (w *Subscriptions) read(ctx context.Context, e *call.Endpoint, x *watch, m *member, p *plan.Plan, args []byte, known *seen) error {
	v := &inbound.Request{EndpointName: x.endpoint}
	ctx = context.WithValue(m.caller.Context(ctx), inbound.Key{}, v) // so that its lines in the log have one id
	inv := m.invocation(e, p, args)
	inv.Request, inv.Validators = &v.Identifier, known.validators
	inv.Policy = call.Policy{Admission: call.Background, Arguments: call.Prepared, Cache: call.Fresh, Response: call.Whole, Report: call.Unreported}
	out, err := w.Calls.Invoke(ctx, inv)
	if err != nil {
		return err
	}
	defer out.Close()
	resp := out.Response
	switch {
	case resp != nil && resp.StatusCode == http.StatusNotModified && out.Failure == nil:
		return nil
	case resp != nil && (resp.StatusCode == http.StatusNotFound || resp.StatusCode == http.StatusGone):
		known.known, known.digest, known.validators = true, [32]byte{}, nil
		return nil
	case out.Failure != nil:
		return out.Failure
	}
	digest := digestOf(out.Parts)
	if known.known && known.digest != digest {
		out.Invalidate(ctx) // subscribers that are notified read the new state
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
