package auth

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestNonce is RFC 9449 section 9: without a nonce of the gateway the caller gets
// one and tries again; before one is too old it gets the next.
func TestNonce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		keys := [][]byte{[]byte(strings.Repeat("n", 32)), []byte(strings.Repeat("o", 32))}
		change := func(keys ...[]byte) func(*Options) {
			return func(o *Options) { o.Now, o.NonceKeys, o.Issuers[0].DPoP = nil, keys, DPoPAccept }
		}
		h := newHouse(t, change(keys...))
		key := newES256("device")
		token := h.keyA.token(h.a.url, time.Now(), map[string]any{"cnf": map[string]any{"jkt": key.thumbprint()}})
		id := 0
		call := func(h *house, nonce any) *httptest.ResponseRecorder {
			id++
			return h.prove(token, key.proof(token, fmt.Sprint(id), time.Now(), map[string]any{"nonce": nonce}))
		}
		w := call(h, nil)
		want := "401 [Bearer " + tail + ` DPoP error="use_dpop_nonce", error_description="the DPoP proof must carry the nonce of this answer", ` + algs + ", " + tail + "]"
		if diff := cmp.Diff(want, fmt.Sprint(w.Code, " ", w.Header()["Www-Authenticate"])); diff != "" {
			t.Error(diff)
		}
		nonce := w.Header().Get("DPoP-Nonce")
		if w := call(h, nonce); w.Code != 200 || w.Header().Get("DPoP-Nonce") != "" {
			t.Errorf("with the nonce: %d %v", w.Code, w.Header())
		}
		replica := newHouseNear(t, h, change(keys[1], keys[0]))
		if w := call(replica, nonce); w.Code != 200 {
			t.Errorf("at a replica whose keys were rotated: %d", w.Code)
		}
		for _, bad := range append(forgedNonces(t, nonce, keys[0]), "x", nonce[:len(nonce)-1], strings.Repeat("A", 32), "B"+nonce[1:]) {
			if w := call(h, bad); w.Code != 401 || w.Header().Get("DPoP-Nonce") == "" {
				t.Errorf("nonce %q: %d", bad, w.Code)
			}
		}
		time.Sleep(nonceTime/2 + time.Second)
		w = call(h, nonce)
		next := w.Header().Get("DPoP-Nonce")
		if w.Code != 200 || next == "" || next == nonce {
			t.Errorf("half its life later: %d, next %q", w.Code, next)
		}
		time.Sleep(nonceTime / 2)
		if w := call(h, nonce); w.Code != 401 {
			t.Errorf("its life later: %d", w.Code)
		}
		if w := call(h, next); w.Code != 200 {
			t.Errorf("the next: %d", w.Code)
		}
	})
	_, err := New(Options{
		Resource: resource, Client: &http.Client{Transport: &http.Transport{}}, DefaultScopes: []string{"a"},
		Issuers: []Issuer{{URL: "https://a.example", DPoP: DPoPAccept}}, NonceKeys: [][]byte{[]byte("short")},
	})
	if fmt.Sprint(err) != "auth: a nonce key has 5 bytes, it needs 32" {
		t.Error(err)
	}
}

// forgedNonces are young nonces that are none: of another time with the code of the real one, and with codes over less than
// there should be.
func forgedNonces(t *testing.T, nonce string, key []byte) (forged []string) {
	t.Helper()
	good, err := base64.RawURLEncoding.DecodeString(nonce)
	if err != nil {
		t.Fatal(err)
	}
	later := slices.Clone(good)
	later[7]++
	forged = append(forged, base64.RawURLEncoding.EncodeToString(later))
	for _, message := range [][]byte{good[:8], []byte("dpop nonce\x00"), nil} {
		mac := hmac.New(sha256.New, key)
		mac.Write(message)
		forged = append(forged, base64.RawURLEncoding.EncodeToString(append(slices.Clone(good[:8]), mac.Sum(nil)[:nonceMAC]...)))
	}
	return forged
}
