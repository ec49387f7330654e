package auth

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"net/http"
	"net/http/httptest"
	"testing"
)

type nothing struct{ header http.Header }

func (n nothing) Header() http.Header         { return n.header }
func (n nothing) Write(p []byte) (int, error) { return len(p), nil }
func (n nothing) WriteHeader(int)             {}

// BenchmarkCachedToken is the cost of a token that was seen before: at most 2 µs.
func BenchmarkCachedToken(b *testing.B) {
	h := newHouse(b, nil)
	r := httptest.NewRequest(http.MethodPost, "/mcp", nil)
	r.Header.Set("Authorization", "Bearer "+h.keyA.token(h.a.url, h.now, nil))
	served := 0
	handler := h.guard.Protect(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { served++ }))
	w := nothing{http.Header{}}
	b.ReportAllocs()
	for b.Loop() {
		handler.ServeHTTP(w, r)
	}
	if served == 0 {
		b.Error("the token was refused")
	}
}

// BenchmarkAuthenticateCached is the same without the context and the copied request.
func BenchmarkAuthenticateCached(b *testing.B) {
	h := newHouse(b, nil)
	token := h.keyA.token(h.a.url, h.now, nil)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := h.guard.authenticate(b.Context(), credential{token: token}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkColdToken is the cost of a token that was not seen before.
func BenchmarkColdToken(b *testing.B) {
	h := newHouse(b, nil)
	for _, s := range []signer{h.keyA, rsaKey(), newEdDSA("ed")} {
		h.a.change(func() { h.a.keys = []signer{s} })
		if err := h.guard.issuers[h.a.url].refresh(b.Context(), false); err != nil {
			b.Fatal(err)
		}
		token := s.token(h.a.url, h.now, nil)
		b.Run(string(s.algorithm), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := h.guard.verify(b.Context(), credential{token: token}, h.now); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkP256 is what crypto/ecdsa takes of a token that is new, signed with ES256.
func BenchmarkP256(b *testing.B) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		b.Fatal(err)
	}
	digest := sha256.Sum256([]byte("head.claims"))
	signature, err := ecdsa.SignASN1(rand.Reader, key, digest[:])
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if !ecdsa.VerifyASN1(&key.PublicKey, digest[:], signature) {
			b.Fatal("not verified")
		}
	}
}
