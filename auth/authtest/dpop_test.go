package authtest

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// prove makes a DPoP proof of a key, changed by change (a nil value removes).
func prove(t *testing.T, k jose.JSONWebKey, kind string, now time.Time, change map[string]any) string {
	t.Helper()
	claims := map[string]any{"jti": "1", "htm": "POST", "htu": "http://127.0.0.1:9400/token", "iat": now.Unix()}
	for name, value := range change {
		if claims[name] = value; value == nil {
			delete(claims, name)
		}
	}
	payload, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: k.Key}, (&jose.SignerOptions{EmbedJWK: true}).WithType(jose.ContentType(kind)))
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
	return text
}

// RFC 9449: a proof binds the tokens to its key, in the JWT, in introspection and for every refresh.
func TestProofBindsTokens(t *testing.T) {
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	o := testOptions()
	o.AutoConsent, o.Now = true, func() time.Time { return now }
	s, err := NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	mine, theirs := mustKey(t), mustKey(t)
	request := func(form string, proofs ...string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodPost, "/token", strings.NewReader(form))
		r.Host = s.issuer.Host
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header["Dpop"] = proofs
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		return w
	}
	a := decode(t, request(redeemForm(login(t, s)).Encode(), prove(t, mine, "dpop+jwt", now, map[string]any{"jti": "first"})))
	if a.TokenType != "DPoP" {
		t.Errorf("token_type %q", a.TokenType)
	}
	name, err := thumbprint(&mine)
	if err != nil {
		t.Fatal(err)
	}
	payload, err := base64.RawURLEncoding.DecodeString(strings.Split(a.AccessToken, ".")[1])
	if err != nil || !strings.Contains(string(payload), `"cnf":{"jkt":"`+name+`"}`) {
		t.Errorf("the token is not bound: %s", payload)
	}
	if got := s.introspect(a.AccessToken); got["token_type"] != "DPoP" {
		t.Errorf("introspection: %v", got)
	}

	refresh := refreshForm(a.RefreshToken).Encode()
	altered := prove(t, mine, "dpop+jwt", now, map[string]any{"jti": "signature"})
	altered = altered[:len(altered)-8] + "AAAAAAAA"
	for _, test := range []struct {
		name   string
		proofs []string
		want   string
	}{
		{"none", nil, "the grant is bound to another key than that of the proof"},
		{"another key", []string{prove(t, theirs, "dpop+jwt", now, map[string]any{"jti": "a"})}, "the grant is bound to another key than that of the proof"},
		{"two", []string{"a", "b"}, "2 DPoP headers"},
		{"garbage", []string{"a"}, "the proof is not a JWS with an algorithm that is supported"},
		{"type", []string{prove(t, mine, "JWT", now, nil)}, "the proof's typ is not 'dpop+jwt'"},
		{"signature", []string{altered}, "the proof's signature is wrong"},
		{"method", []string{prove(t, mine, "dpop+jwt", now, map[string]any{"htm": "GET"})}, "the proof is for method 'GET'"},
		{"address", []string{prove(t, mine, "dpop+jwt", now, map[string]any{"htu": "http://127.0.0.1:9401/token"})}, "the proof is for 'http://127.0.0.1:9401/token', not for 'http://127.0.0.1:9400/token'"},
		{"old", []string{prove(t, mine, "dpop+jwt", now.Add(-61*time.Second), nil)}, "the proof's iat is 1m1s off"},
		{"future", []string{prove(t, mine, "dpop+jwt", now.Add(61*time.Second), nil)}, "the proof's iat is -1m1s off"},
		{"no id", []string{prove(t, mine, "dpop+jwt", now, map[string]any{"jti": nil})}, "the proof's claims are malformed"},
		{"claims", []string{prove(t, mine, "dpop+jwt", now, map[string]any{"htm": 1})}, "the proof's claims are malformed"},
		{"used before", []string{prove(t, mine, "dpop+jwt", now, map[string]any{"jti": "first"})}, "the proof was used before"},
	} {
		w := request(refresh, test.proofs...)
		want := `{"error":"invalid_dpop_proof","error_description":"` + test.want + `"}` + "\n"
		if w.Code != http.StatusBadRequest || w.Body.String() != want {
			t.Errorf("%s: %d %s want %s", test.name, w.Code, w.Body, want)
		}
	}
	if w := request(refresh, prove(t, mine, "dpop+jwt", now, map[string]any{"jti": "last"})); w.Code != http.StatusOK {
		t.Errorf("a good proof: %d %s", w.Code, w.Body)
	}
}

func mustKey(t *testing.T) jose.JSONWebKey {
	t.Helper()
	k, err := newKey(ES256)
	if err != nil {
		t.Fatal(err)
	}
	return k
}
