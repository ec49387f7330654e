package auth

import (
	"context"
	"crypto"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/go-cmp/cmp"
)

// thumbprint is what "cnf" holds of the key (RFC 7638).
func (s signer) thumbprint() string {
	sum, err := (&jose.JSONWebKey{Key: s.private.Public()}).Thumbprint(crypto.SHA256)
	if err != nil {
		panic(err)
	}
	return base64.RawURLEncoding.EncodeToString(sum)
}

// proof is a good proof for a POST with the token, changed by change (a nil
// value removes).
func (s signer) proof(token, id string, now time.Time, change map[string]any) string {
	sum := sha256.Sum256([]byte(token))
	public := jose.JSONWebKey{Key: s.private.Public()}
	header := map[string]any{"typ": "dpop+jwt", "alg": s.algorithm, "jwk": public}
	payload := map[string]any{
		"jti": id, "htm": "POST", "htu": resource, "iat": now.Unix(),
		"ath": base64.RawURLEncoding.EncodeToString(sum[:]),
	}
	for name, value := range change {
		target := payload
		if after, ok := strings.CutPrefix(name, "header."); ok {
			name, target = after, header
		}
		if value == nil {
			delete(target, name)
		} else {
			target[name] = value
		}
	}
	h, _ := json.Marshal(header)
	p, _ := json.Marshal(payload)
	return s.sign(string(h), string(p))
}

func dpopHouse(t testing.TB, a, b DPoPMode) *house {
	return newHouse(t, func(o *Options) { o.Issuers[0].DPoP, o.Issuers[1].DPoP = a, b })
}

// prove sends a token with a proof.
func (h *house) prove(token string, proofs ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader("{}"))
	r.Header.Set("Authorization", "DPoP "+token)
	r.Header["Dpop"] = proofs
	h.log.Reset()
	return h.serve(r)
}

const algs = `algs="RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA"`

// TestProofs is the table of T18.
func TestProofs(t *testing.T) {
	h := dpopHouse(t, DPoPAccept, DPoPRequire)
	key, other := newES256("device"), newES256("thief")
	bound := map[string]any{"cnf": map[string]any{"jkt": key.thumbprint()}}
	token := h.keyA.token(h.a.url, h.now, bound)
	private, _ := json.Marshal(jose.JSONWebKey{Key: key.private})
	with := func(change map[string]any) string { return key.proof(token, "changed", h.now, change) }
	unix := h.now.Unix()
	for _, c := range []struct {
		name, proof string
		want        string // "": accepted; else the reason
	}{
		{"good", with(map[string]any{"jti": "1"}), ""},
		{"good, typ in upper case", with(map[string]any{"header.typ": "DPoP+JWT"}), ""},
		{"used before", with(map[string]any{"header.typ": "DPoP+JWT"}), "proof: used before"},
		{"htu in upper case, with the port", with(map[string]any{"jti": "2", "htu": "HTTPS://MCP.example.com:443/mcp"}), ""},
		{"good, with a claim and a member of the header that nobody knows", with(map[string]any{"jti": "5", "iss": "device", "header.kid": "1"}), ""},
		{"iat at the edge", with(map[string]any{"jti": "3", "iat": unix - 60}), ""},
		{"iat at the other edge", with(map[string]any{"jti": "4", "iat": unix + 60}), ""},
		{"iat too old", with(map[string]any{"iat": unix - 61}), "proof: iat"},
		{"iat in the future", with(map[string]any{"iat": unix + 61}), "proof: iat"},
		{"iat absent", with(map[string]any{"iat": nil}), "proof: iat"},
		{"iat a string", with(map[string]any{"iat": fmt.Sprint(unix)}), "proof: malformed claim"},
		{"jti absent", with(map[string]any{"jti": nil}), "proof: jti"},
		{"jti empty", with(map[string]any{"jti": ""}), "proof: jti"},
		{"jti too long", with(map[string]any{"jti": strings.Repeat("x", 257)}), "proof: jti"},
		{"htm of another method", with(map[string]any{"htm": "GET"}), "proof: htm"},
		{"htm in lower case", with(map[string]any{"htm": "post"}), "proof: htm"},
		{"htm absent", with(map[string]any{"htm": nil}), "proof: htm"},
		{"htu with a slash at the end", with(map[string]any{"jti": "slash", "htu": resource + "/"}), ""},
		{"htu with two slashes at the end", with(map[string]any{"htu": resource + "//"}), "proof: htu"},
		{"htu absent", with(map[string]any{"htu": nil}), "proof: htu"},
		{"htu of another host", with(map[string]any{"htu": "https://evil.example/mcp"}), "proof: htu"},
		{"htu of another path", with(map[string]any{"htu": "https://mcp.example.com/mcp2"}), "proof: htu"},
		{"htu over http", with(map[string]any{"htu": "http://mcp.example.com/mcp"}), "proof: htu"},
		{"htu with a query", with(map[string]any{"htu": resource + "?x=1"}), "proof: htu"},
		{"htu with a fragment", with(map[string]any{"htu": resource + "#x"}), "proof: htu"},
		{"htu with a user", with(map[string]any{"htu": "https://mcp.example.com@evil.example/mcp"}), "proof: htu"},
		{"ath absent", with(map[string]any{"ath": nil}), "proof: ath"},
		{"ath of another token", with(map[string]any{"ath": "fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo"}), "proof: ath"},
		{"another key", other.proof(token, "x", h.now, nil), "bound to another key"},
		{"another key's signature", other.proof(token, "x", h.now, map[string]any{"header.jwk": key.jwk()}), "proof: signature"},
		{"typ JWT", with(map[string]any{"header.typ": "JWT"}), "proof: typ"},
		{"typ absent", with(map[string]any{"header.typ": nil}), "proof: typ"},
		{"alg none", with(map[string]any{"header.alg": "none"}), "proof: algorithm not allowed"},
		{"alg HS256", with(map[string]any{"header.alg": "HS256"}), "proof: algorithm not allowed"},
		{"alg of another key type", with(map[string]any{"header.alg": "RS256"}), "proof: algorithm of another key type"},
		{"jwk absent", with(map[string]any{"header.jwk": nil}), "proof: jwk is no usable public key"},
		{"jwk private", with(map[string]any{"header.jwk": json.RawMessage(private)}), "proof: jwk is no usable public key"},
		{"jwk symmetric", with(map[string]any{"header.jwk": map[string]any{"kty": "oct", "k": "AAAA"}}), "proof: jwk is no usable public key"},
		{"jwk a string", with(map[string]any{"header.jwk": "x"}), "proof: jwk is no usable public key"},
		{"crit", with(map[string]any{"header.crit": []string{"x"}}), "proof: header member that is not supported"},
		{"b64", with(map[string]any{"header.b64": false}), "proof: header member that is not supported"},
		{"claim in upper case", with(map[string]any{"HTU": resource}), "proof: malformed claim"},
		{"header in upper case", with(map[string]any{"header.JWK": key.jwk()}), "proof: malformed header"},
		{"too long", with(map[string]any{"x": strings.Repeat("x", maxProof)}), "proof: too long"},
		{"no JWS", "x", "proof: not a JWS of JSON objects"},
		{"empty", "", "proof: not a JWS of JSON objects"},
		{"the token as proof", token, "proof: typ"},
		{"signature cut", with(nil)[:len(with(nil))-86] + strings.Repeat("A", 86), "proof: signature"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := h.prove(token, c.proof)
			if got := h.reason(w); got != c.want {
				t.Errorf("got %q (status %d), want %q", got, w.Code, c.want)
			}
			if c.want == "" {
				return
			}
			code, description := "invalid_dpop_proof", "the DPoP proof is not valid for this request"
			if !strings.HasPrefix(c.want, "proof: ") {
				code, description = "invalid_token", "the access token is not valid here"
			}
			want := fmt.Sprintf("401 [Bearer %s DPoP error=%q, error_description=%q, %s, %s]", tail, code, description, algs, tail)
			if diff := cmp.Diff(want, fmt.Sprint(w.Code, " ", w.Header()["Www-Authenticate"])); diff != "" {
				t.Error(diff)
			}
			if strings.Contains(h.log.String(), "eyJ") {
				t.Errorf("log: %s", h.log)
			}
		})
	}
	for _, s := range []signer{newEdDSA("ed"), rsaKey(), {"ps", jose.PS256, rsaKey().private}} {
		token := h.keyA.token(h.a.url, h.now, map[string]any{"cnf": map[string]any{"jkt": s.thumbprint()}})
		if w := h.prove(token, s.proof(token, string(s.algorithm), h.now, nil)); w.Code != http.StatusOK {
			t.Errorf("%s: %d, log %s", s.algorithm, w.Code, h.log)
		}
	}
}

// TestProofSchemes is T17 and RFC 9449 section 7: which token goes with which
// scheme at which kind of issuer, and what the caller is told.
func TestProofSchemes(t *testing.T) {
	key := newES256("device")
	when := func() time.Time { return time.Unix(1800000000, 0) }
	cnf := map[string]any{"cnf": map[string]any{"jkt": key.thumbprint()}}
	const (
		plainTail  = "Bearer " + tail
		bearerBad  = `Bearer error="invalid_token", error_description="the access token is not valid here", ` + tail
		dpopOffer  = "DPoP " + algs + ", " + tail
		dpopBad    = `DPoP error="invalid_token", error_description="the access token is not valid here", ` + algs + ", " + tail
		dpopProof  = `DPoP error="invalid_dpop_proof", error_description="the DPoP proof is not valid for this request", ` + algs + ", " + tail
		twoProofs  = `exactly one DPoP header must be sent`
		dpopTwice  = `DPoP error="invalid_request", error_description="` + twoProofs + `", ` + algs + ", " + tail
		otherTwice = `Bearer error="invalid_request", error_description="` + twoProofs + `", ` + tail
	)
	type answers struct{ off, accept, require string }
	for _, c := range []struct {
		name   string
		change map[string]any
		scheme string
		proofs func(token string) []string
		want   answers
	}{
		{"no token", nil, "", nil, answers{
			"401 " + plainTail, "401 " + plainTail + " " + dpopOffer, "401 " + dpopOffer}},
		{"unbound, Bearer", nil, "Bearer", nil, answers{
			"200", "200", "401 " + dpopBad}},
		{"unbound, DPoP", nil, "DPoP", func(token string) []string { return []string{key.proof(token, "1", when(), nil)} }, answers{
			"401 " + plainTail, "401 " + plainTail + " " + dpopBad, "401 " + dpopBad}},
		{"bound, Bearer", cnf, "Bearer", nil, answers{
			"401 " + bearerBad, "401 " + bearerBad + " " + dpopOffer, "401 " + dpopBad}},
		{"bound, Bearer with a proof", cnf, "Bearer", func(token string) []string { return []string{key.proof(token, "2", when(), nil)} }, answers{
			"401 " + bearerBad, "401 " + bearerBad + " " + dpopOffer, "401 " + dpopBad}},
		{"bound, DPoP", cnf, "dpop", func(token string) []string { return []string{key.proof(token, "3", when(), nil)} }, answers{
			"401 " + plainTail, "200", "200"}},
		{"bound, DPoP without a proof", cnf, "DPoP", nil, answers{
			"401 " + plainTail, "401 " + plainTail + " " + dpopProof, "401 " + dpopProof}},
		{"bound, two proofs (H4)", cnf, "DPoP", func(token string) []string {
			return []string{key.proof(token, "4", when(), nil), key.proof(token, "5", when(), nil)}
		}, answers{"401 " + plainTail, "400 " + plainTail + " " + dpopTwice, "400 " + dpopTwice}},
		{"bound, two proofs in a line", cnf, "DPoP", func(token string) []string {
			return []string{key.proof(token, "4", when(), nil) + ", " + key.proof(token, "5", when(), nil)}
		}, answers{"401 " + plainTail, "400 " + plainTail + " " + dpopTwice, "400 " + dpopTwice}},
		{"unbound, Bearer, two proofs", nil, "Bearer", func(string) []string { return []string{"x", "x"} },
			answers{"400 " + otherTwice, "400 " + otherTwice + " " + dpopOffer, "400 " + dpopTwice}},
		{"also bound to a certificate", map[string]any{"cnf": map[string]any{"jkt": key.thumbprint(), "x5t#S256": "x"}}, "DPoP",
			func(token string) []string { return []string{key.proof(token, "6", when(), nil)} },
			answers{"401 " + plainTail, "401 " + plainTail + " " + dpopBad, "401 " + dpopBad}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for mode, want := range map[DPoPMode]string{DPoPOff: c.want.off, DPoPAccept: c.want.accept, DPoPRequire: c.want.require} {
				h := dpopHouse(t, mode, mode)
				h.now = when()
				r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader("{}"))
				if c.scheme != "" {
					token := h.keyA.token(h.a.url, h.now, c.change)
					r.Header.Set("Authorization", c.scheme+" "+token)
					if c.proofs != nil {
						r.Header["Dpop"] = c.proofs(token)
					}
				}
				w := h.serve(r)
				got := strings.TrimSpace(fmt.Sprint(w.Code, " ", strings.Join(w.Header()["Www-Authenticate"], " ")))
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("mode %d: %s", mode, diff)
				}
			}
		})
	}
}

// TestNormalizeTarget holds which spellings of a URL are one (RFC 9449 section 4.3).
func TestNormalizeTarget(t *testing.T) {
	for in, want := range map[string]string{
		"https://mcp.example.com":          "https://mcp.example.com",
		"HTTPS://MCP.example.com:443/":     "https://mcp.example.com",
		"http://localhost:80/mcp":          "http://localhost/mcp",
		"https://mcp.example.com:80/mcp":   "https://mcp.example.com:80/mcp",
		"https://[2001:DB8::1]:443/mcp":    "https://[2001:db8::1]/mcp",
		"https://mcp.example.com/MCP/../x": "https://mcp.example.com/MCP/../x",
		"https://mcp.example.com/%6dcp":    "https://mcp.example.com/%6dcp",
		"https://mcp.example.com/mcp?":     "",
		"https://mcp.example.com/mcp#":     "",
		"https://a@mcp.example.com/mcp":    "",
		"https:mcp.example.com/mcp":        "",
		"//mcp.example.com/mcp":            "",
		"/mcp":                             "",
		"":                                 "",
	} {
		if got, ok := normalizeTarget(in); got != want || ok != (want != "") {
			t.Errorf("%s: %q, %v, want %q", in, got, ok, want)
		}
	}
}

// TestConfirmations: a token that asks for another proof too, or in a way that nobody knows, is not proven by a key (T17).
func TestConfirmations(t *testing.T) {
	h := dpopHouse(t, DPoPAccept, DPoPAccept)
	key := newES256("device")
	mark := key.thumbprint()
	const unproven = "bound to a key that was not proven"
	for name, c := range map[string]struct {
		confirmation any
		want         string
	}{
		"the key":                     {map[string]any{"jkt": mark}, ""},
		"and a certificate":           {map[string]any{"jkt": mark, "x5t#S256": "x"}, unproven},
		"a certificate, and the key":  {json.RawMessage(`{"x5t#S256":"x","jkt":"` + mark + `"}`), unproven},
		"the key, as a certificate":   {map[string]any{"x5t#S256": mark}, unproven},
		"the key, in another case":    {map[string]any{"JKT": mark}, unproven},
		"the key, in a list":          {map[string]any{"jkt": []string{mark}}, unproven},
		"the key, and no more":        {mark, unproven},
		"nothing":                     {map[string]any{}, unproven},
		"the key, and what nobody is": {map[string]any{"jkt": mark, "x": nil}, unproven},
	} {
		token := h.keyA.token(h.a.url, h.now, map[string]any{"cnf": c.confirmation})
		w := h.prove(token, key.proof(token, name, h.now, nil))
		if got := h.reason(w); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestProofForbidden: the 403 of a caller with a bound token speaks of DPoP.
func TestProofForbidden(t *testing.T) {
	h := dpopHouse(t, DPoPAccept, DPoPOff)
	key := newES256("device")
	token := h.keyA.token(h.a.url, h.now, map[string]any{"cnf": map[string]any{"jkt": key.thumbprint()}})
	r := httptest.NewRequest(http.MethodPost, "/mcp", nil)
	r.Header.Set("Authorization", "DPoP "+token)
	r.Header.Set("DPoP", key.proof(token, "1", h.now, nil))
	h.guard.Protect(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		header, _ := h.guard.Forbidden(FromContext(r.Context()), []string{"x"})
		want := `DPoP error="insufficient_scope", error_description="the access token lacks a scope that this call needs", ` + algs +
			`, scope="mcp:tools orders:read x", resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp"`
		if diff := cmp.Diff(want, header.Get("WWW-Authenticate")); diff != "" {
			t.Error(diff)
		}
	})).ServeHTTP(httptest.NewRecorder(), r)
}

// TestProofIntrospected: a bound opaque token needs its proof too (RFC 9449
// section 6.2), each time and also when the answer is remembered.
func TestProofIntrospected(t *testing.T) {
	h := opaqueHouse(t, func(o *Options) { o.Issuers[0].DPoP = DPoPRequire })
	key := newES256("device")
	h.a.answers["opaque"] = h.activeAnswer(h.now, map[string]string{"token_type": `"DPoP"`, "cnf": `{"jkt":"` + key.thumbprint() + `"}`})
	h.a.answers["plain"] = h.activeAnswer(h.now, nil)
	for n, c := range []struct {
		token, proof string
		want         int
	}{
		{"opaque", key.proof("opaque", "1", h.now, nil), 200},
		{"opaque", key.proof("opaque", "1", h.now, nil), 401},
		{"opaque", key.proof("opaque", "2", h.now, nil), 200},
		{"opaque", newES256("x").proof("opaque", "3", h.now, nil), 401},
		{"plain", key.proof("plain", "4", h.now, nil), 401},
	} {
		if w := h.prove(c.token, c.proof); w.Code != c.want {
			t.Errorf("%d: status %d, want %d; log %s", n, w.Code, c.want, h.log)
		}
	}
	h.wantStatus("bound, as bearer", "opaque", 401)
	if n := h.a.asked.Load(); n != 2 {
		t.Errorf("asked %d times, want 2", n)
	}
}

// newHouseNear is another gateway with the same authorization servers.
func newHouseNear(t testing.TB, h *house, change func(*Options)) *house {
	near := *h
	o := Options{
		Resource: resource, Issuers: []Issuer{{URL: h.a.url}, {URL: h.b.url}}, DefaultScopes: []string{"mcp:tools"},
		Client: client(t, h.network),
	}
	change(&o)
	var err error
	if near.guard, err = New(o); err != nil {
		t.Fatal(err)
	}
	return &near
}

type brokenReplays struct{}

func (brokenReplays) Seen(context.Context, string, [32]byte, time.Time) (bool, error) {
	return false, errors.New("down")
}

// TestReplays: of many callers with one proof one is let in; proofs are
// forgotten when they can't be used any more, and never before.
func TestReplays(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	m := NewReplayMemory(func() time.Time { return now })
	seen := func(n int) string {
		id := sha256.Sum256(fmt.Append(nil, n))
		id[31] = 0
		ok, err := m.Seen(t.Context(), fmt.Sprint(n%1000), id, now.Add(2*time.Minute))
		return fmt.Sprint(ok, " ", err)
	}
	for n := range replayShard {
		if got := seen(n); got != "false <nil>" {
			t.Fatalf("proof %d: %s", n, got)
		}
	}
	if got := seen(-1); got != "false too many proofs to remember" {
		t.Errorf("one too many: %s", got)
	}
	now = now.Add(2*time.Minute - 1)
	if got := seen(7); got != "true <nil>" {
		t.Errorf("a proof that still counts: %s", got)
	}
	now = now.Add(1)
	if got := seen(7); got != "false <nil>" {
		t.Errorf("a proof that is too old to count: %s", got)
	}
	if s := &m.shards[0]; len(s.ids) != 1 || len(s.owners) != 1 {
		t.Errorf("%d proofs of %d principals are kept, want 1", len(s.ids), len(s.owners))
	}
	id := sha256.Sum256(fmt.Append(nil, 7))
	id[31] = 0
	m.Forget(id)
	m.Forget(id)
	if s := &m.shards[0]; len(s.ids) != 0 || len(s.owners) != 0 {
		t.Errorf("%d proofs of %d principals are kept, want none", len(s.ids), len(s.owners))
	}

	h := newHouse(t, func(o *Options) { o.Issuers[0].DPoP, o.Replays = DPoPAccept, brokenReplays{} })
	key := newES256("device")
	token := h.keyA.token(h.a.url, h.now, map[string]any{"cnf": map[string]any{"jkt": key.thumbprint()}})
	if w := h.prove(token, key.proof(token, "1", h.now, nil)); w.Code != 503 || w.Header().Get("Retry-After") != "1" {
		t.Errorf("with a memory that is down: %d", w.Code)
	}
}

// TestReplaysOfOne: who floods the memory of proofs, also with such as fall into one part of it, is told so, and others get in.
func TestReplaysOfOne(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	m := NewReplayMemory(func() time.Time { return now })
	n := 0
	seen := func(owner string) error {
		n++
		id := sha256.Sum256(fmt.Append(nil, n))
		id[31] = 0
		_, err := m.Seen(t.Context(), owner, id, now.Add(2*time.Minute))
		return err
	}
	flood := func(owner string) (let int) {
		for ; let <= replayShard; let++ {
			if err := seen(owner); err != nil {
				if !errors.Is(err, ErrManyProofs) {
					t.Errorf("%s: %v", owner, err)
				}
				return let
			}
		}
		return let
	}
	if got := flood("mallory"); got != replaySoftLimit {
		t.Errorf("mallory has used %d proofs, want %d", got, replaySoftLimit)
	}
	for _, owner := range []string{"eve", "trudy", "oscar"} {
		if got := flood(owner); got != replayShare {
			t.Errorf("%s has used %d proofs, want %d", owner, got, replayShare)
		}
	}
	if err := seen("alice"); err != nil {
		t.Errorf("alice: %v", err)
	}
	now = now.Add(2 * time.Minute)
	if err := seen("mallory"); err != nil {
		t.Errorf("later: %v", err)
	}

	h := newHouse(t, func(o *Options) { o.Issuers[0].DPoP, o.Replays = DPoPAccept, manyReplays{} })
	key := newES256("device")
	token := h.keyA.token(h.a.url, h.now, map[string]any{"cnf": map[string]any{"jkt": key.thumbprint()}})
	if w := h.prove(token, key.proof(token, "1", h.now, nil)); w.Code != 429 || w.Header().Get("Retry-After") != "10" || !strings.Contains(w.Body.String(), `"too many DPoP proofs of this caller"`) {
		t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
	}
}

type manyReplays struct{}

func (manyReplays) Seen(context.Context, string, [32]byte, time.Time) (bool, error) {
	return false, ErrManyProofs
}

// TestProofMetadata is what RFC 9728 section 2 says of DPoP.
func TestProofMetadata(t *testing.T) {
	for _, c := range []struct {
		a, b DPoPMode
		want string
	}{
		{DPoPOff, DPoPOff, ""},
		{DPoPOff, DPoPRequire, `,"dpop_signing_alg_values_supported":["RS256","RS384","RS512","PS256","PS384","PS512","ES256","ES384","ES512","EdDSA"]`},
		{DPoPRequire, DPoPRequire, `,"dpop_signing_alg_values_supported":["RS256","RS384","RS512","PS256","PS384","PS512","ES256","ES384","ES512","EdDSA"],"dpop_bound_access_tokens_required":true`},
	} {
		_, got, _ := strings.Cut(string(dpopHouse(t, c.a, c.b).guard.metadata), `"bearer_methods_supported":["header"]`)
		if diff := cmp.Diff(c.want+"}", got); diff != "" {
			t.Error(diff)
		}
	}
}

// FuzzDPoPProof looks for proofs that crash, that are accepted without the key
// having signed them, or of which a part comes out.
func FuzzDPoPProof(f *testing.F) {
	h := dpopHouse(f, DPoPRequire, DPoPRequire)
	key := newES256("device")
	token := h.keyA.token(h.a.url, h.now, map[string]any{"cnf": map[string]any{"jkt": key.thumbprint()}})
	good := key.proof(token, "1", h.now, nil)
	jwk, _ := json.Marshal(key.jwk())
	f.Add(good, "", "")
	f.Add("a.b.c", "", "")
	f.Add("", `{"typ":"dpop+jwt","alg":"ES256","jwk":`+string(jwk)+`}`, `{"jti":"2","htm":"POST","htu":"https://mcp.example.com/mcp","iat":1795176000,"ath":"x"}`)
	f.Add("", `{"typ":"dpop+jwt","alg":"RS256","jwk":{"kty":"RSA","n":"AQAB","e":"AQAB"}}`, `{"jti":"2","iat":1e300,"htu":"//"}`)
	f.Fuzz(func(t *testing.T, proof, header, payload string) {
		if proof == "" { // signed as it should be, whatever it says
			proof = key.sign(header, payload)
		}
		w := h.prove(token, proof)
		if w.Code == http.StatusOK {
			_, text, err := decodeJWS(proof)
			var claims struct {
				Method string `json:"htm"`
				Target string `json:"htu"`
				ID     string `json:"jti"`
			}
			if err != nil || json.Unmarshal(text, &claims) != nil || claims.Method != "POST" || claims.ID == "" ||
				!strings.EqualFold(strings.Replace(claims.Target, ":443/", "/", 1), resource) ||
				header == "" && !strings.HasPrefix(good, proof[:strings.LastIndexByte(proof, '.')]) {
				t.Fatalf("accepted %q", proof)
			}
			if again := h.prove(token, proof); again.Code == http.StatusOK {
				t.Fatalf("accepted twice %q", proof)
			}
		}
		if challenge := strings.Join(w.Header()["Www-Authenticate"], " "); strings.ContainsAny(challenge, "\r\n\\") {
			t.Fatalf("challenge %q", challenge)
		}
	})
}

// BenchmarkProof is the cost of a bound token that was seen before: the token
// from the cache, the proof in full.
func BenchmarkProof(b *testing.B) {
	h := dpopHouse(b, DPoPRequire, DPoPRequire)
	key := newES256("device")
	token := h.keyA.token(h.a.url, h.now, map[string]any{"cnf": map[string]any{"jkt": key.thumbprint()}})
	c := credential{token: token, dpop: true, request: httptest.NewRequest(http.MethodPost, "/mcp", nil)}
	c.proof = key.proof(token, "1", h.now, nil)
	h.guard.dpop.replays = forgetful{}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := h.guard.authenticate(b.Context(), c); err != nil {
			b.Fatal(err)
		}
	}
}

type forgetful struct{}

func (forgetful) Seen(context.Context, string, [32]byte, time.Time) (bool, error) { return false, nil }
