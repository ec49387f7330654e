package plan

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

// IdempotencyKey describes the key by which a service recognizes a repeated request (R10). It is immutable.
type IdempotencyKey struct {
	header   string             // canonical name of the header
	argument string             // name of the header argument that carries the key; "" if none does
	given    *openapi.Operation // the operation without that argument, as callers see it; nil if it has no such argument
}

// codeIdempotencyKey is the problem code of an operation whose requests can't carry the configured key.
const codeIdempotencyKey = "idempotency-key"

// newIdempotencyKey returns the idempotency key of an operation's requests, or nil if they carry none. Idempotent methods
// need none. seen is the operation as callers would see it without the key.
func newIdempotencyKey(op, seen *openapi.Operation, header config.KeyHeader, r reporter) *IdempotencyKey {
	name := header.Name()
	if name == "" || upstream.Idempotent(op.Method) {
		return nil
	}
	k, err := keyInHeader(op, seen, name)
	if err != nil {
		r.reject(codeIdempotencyKey, "idempotency_key", err.Error(), func(of *config.Settings) bool { return of.IdempotencyKey == header })
		return nil
	}
	return k
}

// keyInHeader returns the key with that header name. The error means that an argument declared for the header
// accepts no UUID.
func keyInHeader(op, seen *openapi.Operation, name string) (*IdempotencyKey, error) {
	k := &IdempotencyKey{header: http.CanonicalHeaderKey(name)}
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
		k.argument, k.given = argument, seen.Variant(nil, []string{argument}, "")
		break
	}
	return k, nil
}

// Prepare adds a new key to the arguments if an argument carries it, and returns the key.
func (k *IdempotencyKey) Prepare(args json.RawMessage) (with json.RawMessage, value string) {
	value = newUUID()
	if k.argument != "" {
		args = jsonscan.WithString(args, k.argument, value)
	}
	return args, value
}

// Attach sets the key's header unless an argument carries the key.
func (k *IdempotencyKey) Attach(h http.Header, value string) {
	if k.argument == "" {
		h[k.header] = []string{value}
	}
}

// newUUID returns a random UUID (RFC 9562 section 5.4). The draft of the header field requires an RFC 9651 string in
// quotation marks, but services that check the value expect the bare UUID (docs/resilience.md).
func newUUID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails (crypto/rand)
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	text := hex.EncodeToString(b[:])
	return text[:8] + "-" + text[8:12] + "-" + text[12:16] + "-" + text[16:20] + "-" + text[20:]
}
