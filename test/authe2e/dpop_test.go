package authe2e

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// Tokens that are bound to a key of the client, which proves with each request that it has it (RFC 9449), with and without
// a nonce of the gateway. Of the official clients the second of TypeScript can. Who has only the token gets nowhere.
func testProofs(t *testing.T, s *suite) {
	for _, server := range []string{oidcProvider, ownServer} {
		for _, nonce := range []bool{false, true} {
			scenario := "proof of possession (DPoP)"
			if nonce {
				scenario += ", with a nonce"
			}
			t.Run(server+"/"+scenario, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, s, setup{server: server, dpop: true, nonce: nonce})
				s.each(t, scenario, server, []string{clientV2}, func(t *testing.T, client string) { useProofs(t, w, client) })
				s.each(t, scenario+": none, refused", server, []string{goSDK}, func(t *testing.T, client string) { useNone(t, w, client) })
			})
		}
	}
}

func useProofs(t *testing.T, w *world, client string) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := w.newSession(t, client, choices{dpop: true, refresh: true})
	if err := c.connect(ctx); err != nil {
		t.Fatalf("connect: %v", err)
	}
	for _, call := range []call{reading, writing, cancelling} {
		call.make(ctx, t, c)
	}
	st := w.look(ctx, t, c)
	if !strings.EqualFold(st.Kind, "DPoP") || len(st.Asked) != 3 {
		t.Errorf("token type %q, after %q", st.Kind, st.Asked)
	}
	thief, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for name, header := range map[string]struct{ scheme, proof string }{
		"as bearer":                  {"Bearer ", ""},
		"without proof":              {"DPoP ", ""},
		"with another's key":         {"DPoP ", w.prove(t, thief, st.Access)},
		"as bearer, with a proof":    {"Bearer ", w.prove(t, thief, st.Access)},
		"with a proof that was used": {"DPoP ", w.lastProof(t, st)},
	} {
		r, err := w.newRawCall(ctx, header.scheme+st.Access)
		if err != nil {
			t.Fatal(err)
		}
		if header.proof != "" {
			r.Header.Set("DPoP", header.proof)
		}
		if text, status, err := w.do(r); err != nil || status != http.StatusUnauthorized {
			t.Errorf("%s: status %d, %v %s", name, status, err, text)
		}
	}
}

// lastProof returns the proof that the client used for its last call.
func (w *world) lastProof(t *testing.T, st state) string {
	t.Helper()
	for _, secret := range slices.Backward(st.Secrets) {
		if strings.Count(secret, ".") != 2 {
			continue
		}
		if header, claims := decode(t, secret); header["typ"] == "dpop+jwt" && claims["htu"] == w.endpoint {
			return secret
		}
	}
	t.Fatal("the client used no proof")
	return ""
}

// useNone is a client that knows nothing of DPoP, with a token that is bound to no key.
func useNone(t *testing.T, w *world, client string) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := w.newSession(t, client, choices{})
	if err := c.connect(ctx); err == nil {
		t.Error("it got in")
	}
	st := w.look(ctx, t, c)
	if st.Access == "" || !strings.EqualFold(st.Kind, "Bearer") {
		t.Fatalf("token type %q, after %q", st.Kind, st.Grants)
	}
	if status, err := w.try(ctx, st.Access); err != nil || status != http.StatusUnauthorized {
		t.Errorf("status %d, %v", status, err)
	}
}

// prove makes a proof for a raw call, good but for the key.
func (w *world) prove(t *testing.T, key *ecdsa.PrivateKey, token string) string {
	t.Helper()
	sum := sha256.Sum256([]byte(token))
	payload, err := json.Marshal(map[string]any{
		"jti": rand.Text(), "htm": http.MethodPost, "htu": w.endpoint, "iat": time.Now().Unix(),
		"ath": base64.RawURLEncoding.EncodeToString(sum[:]),
	})
	if err != nil {
		t.Fatal(err)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: key}, (&jose.SignerOptions{EmbedJWK: true}).WithType("dpop+jwt"))
	if err != nil {
		t.Fatal(err)
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		t.Fatal(err)
	}
	text, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	w.secrets.add("a proof", text)
	return text
}
