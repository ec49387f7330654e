package gateway

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"drawbridge/config"
	"drawbridge/gateway/upstream"
	"drawbridge/openapi"
	"drawbridge/openapi/jsonscan"
)

// repeatOf says whether the requests of an operation may reach its service twice.
func repeatOf(set config.Settings, key *requestKey) upstream.RetryPolicy {
	switch {
	case set.Idempotent != nil && !*set.Idempotent:
		return upstream.RetryNever
	case set.Idempotent != nil, key != nil:
		return upstream.RetryAlways
	}
	return upstream.RetryByMethod
}

// requestKey is how the service of an operation knows a request that it has seen before (R10). It is immutable.
type requestKey struct {
	header   string             // canonical
	argument string             // that is sent in this header; "": none is
	given    *openapi.Operation // the operation as callers see it, without that argument; nil: as it is
}

// codeIdempotencyKey is the code of keys that an operation can't be sent with, as that of the document's problems.
const codeIdempotencyKey = "idempotency-key"

// keyOf returns how requests of an operation carry a key, nil if they carry none. Methods that are idempotent by themselves need
// none. given is the operation as callers see it otherwise.
func (gen *generation) keyOf(g *Gateway, s *source, op, given *openapi.Operation, set config.Settings) *requestKey {
	name := set.IdempotencyKey.Name()
	if name == "" || upstream.Idempotent(op.Method) {
		return nil
	}
	k, err := newRequestKey(op, given, name)
	if err != nil {
		gen.unusable(g, s, op, codeIdempotencyKey, "idempotency_key", err.Error(), func(of *config.Settings) bool { return of.IdempotencyKey == set.IdempotencyKey })
		return nil
	}
	return k
}

func newRequestKey(op, given *openapi.Operation, name string) (*requestKey, error) {
	k := &requestKey{header: http.CanonicalHeaderKey(name)}
	for _, spelled := range []string{name, strings.ReplaceAll(name, "_", "-"), strings.ReplaceAll(name, "-", "_")} {
		argument, _, ok := op.ArgumentFor("header", spelled, "")
		if !ok {
			continue
		}
		var bad *openapi.ArgumentError
		if _, _, err := op.Check(jsonscan.WithString(nil, argument, newUUID())); errors.As(err, &bad) {
			for _, f := range bad.Faults {
				if f.Pointer == jsonscan.PointerTo(argument) {
					return nil, fmt.Errorf("the argument %q, which is sent in this header, takes no UUID: %s", argument, f.Message)
				}
			}
		}
		k.argument, k.given = argument, given.Variant(nil, []string{argument}, "")
		break
	}
	return k, nil
}

// prepare puts a new key into the arguments of a call, if it stands there; it returns the key.
func (k *requestKey) prepare(args json.RawMessage) (with json.RawMessage, value string) {
	value = newUUID()
	if k.argument != "" {
		args = jsonscan.WithString(args, k.argument, value)
	}
	return args, value
}

// attach puts the key into a request, if it is no argument of it.
func (k *requestKey) attach(h http.Header, value string) {
	if k.argument == "" {
		h[k.header] = []string{value}
	}
}

// newUUID returns a random UUID (RFC 9562 section 5.4). The draft of the header field wants a string of RFC 9651, in quotation
// marks; services that check what they get want the bare UUID (docs/resilience.md).
func newUUID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails (crypto/rand)
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	text := hex.EncodeToString(b[:])
	return text[:8] + "-" + text[8:12] + "-" + text[12:16] + "-" + text[16:20] + "-" + text[20:]
}
