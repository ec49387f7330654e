package auth

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/go-cmp/cmp"
)

// TestKeys: which published keys are used, and for which algorithms (T5, T13).
func TestKeys(t *testing.T) {
	curve := func(c elliptic.Curve) any {
		k, err := ecdsa.GenerateKey(c, rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		return k.Public()
	}
	p256, rs := newES256("k"), rsaKey()
	for _, c := range []struct {
		name string
		key  any
		set  map[string]any // members changed
		want string         // algorithms
	}{
		{"P-256", p256.private.Public(), nil, "ES256"},
		{"P-384", curve(elliptic.P384()), nil, "ES384"},
		{"P-521", curve(elliptic.P521()), nil, "ES512"},
		{"P-224", curve(elliptic.P224()), map[string]any{"crv": "P-224"}, ""},
		{"Ed25519", newEdDSA("k").private.Public(), nil, "EdDSA"},
		{"RSA", rs.private.Public(), nil, "RS256 RS384 RS512 PS256 PS384 PS512"},
		{"RSA, one algorithm", rs.private.Public(), map[string]any{"alg": "PS256"}, "PS256"},
		{"RSA, an algorithm that is not supported", rs.private.Public(), map[string]any{"alg": "RSA-OAEP"}, ""},
		{"for encryption", p256.private.Public(), map[string]any{"use": "enc"}, ""},
		{"for signatures", p256.private.Public(), map[string]any{"use": "sig", "key_ops": []string{"verify"}}, "ES256"},
		{"for signing only", p256.private.Public(), map[string]any{"key_ops": []string{"sign"}}, ""},
		{"private", p256.private, nil, ""},
		{"symmetric", []byte("0123456789abcdef0123456789abcdef"), nil, ""},
		{"unknown type", p256.private.Public(), map[string]any{"kty": "XX"}, ""},
		{"point off the curve", p256.private.Public(), map[string]any{"x": strings.Repeat("A", 43)}, ""},
		{"wrong curve name", p256.private.Public(), map[string]any{"crv": "P-384"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			key := c.key
			if c.name == "P-224" { // which go-jose does not write
				key = p256.private.Public()
			}
			jwk, err := (&jose.JSONWebKey{Key: key, KeyID: "k"}).MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			members := map[string]any{}
			if err := json.Unmarshal(jwk, &members); err != nil {
				t.Fatal(err)
			}
			for name, value := range c.set {
				members[name] = value
			}
			if jwk, err = json.Marshal(members); err != nil {
				t.Fatal(err)
			}
			// A bad key beside a good one takes nothing from it.
			good, err := (&jose.JSONWebKey{Key: p256.private.Public(), KeyID: "good"}).MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			set, err := parseKeySet(fmt.Appendf(nil, `{"x":1,"keys":[%s,%s,null,1]}`, jwk, good))
			if err != nil {
				t.Fatal(err)
			}
			if !set.knows("good") {
				t.Error("the other key is gone")
			}
			var got []string
			for _, a := range append(defaultAlgorithms(), jose.HS256, "none") {
				if len(set.find("k", a)) > 0 {
					got = append(got, string(a))
				}
			}
			if diff := cmp.Diff(c.want, strings.Join(got, " ")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// FuzzKeySet: whatever an authorization server publishes, reading it ends, and
// only public keys of known kinds come out.
func FuzzKeySet(f *testing.F) {
	f.Add([]byte(`{"keys":[]}`))
	f.Add([]byte(`{"keys":[{"kty":"RSA","n":"AQAB","e":"AQAB"}]}`))
	f.Add((&idp{keys: []signer{newES256("a"), newEdDSA("b")}}).set())
	f.Fuzz(func(t *testing.T, data []byte) {
		set, err := parseKeySet(data)
		if err != nil {
			return
		}
		for _, k := range set.keys {
			if !(&jose.JSONWebKey{Key: k.public}).IsPublic() {
				t.Fatalf("%T", k.public)
			}
		}
	})
}
