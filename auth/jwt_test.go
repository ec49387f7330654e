package auth

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/go-cmp/cmp"
)

// house is a guard with two authorization servers and a log.
type house struct {
	t       testing.TB
	guard   *Guard
	network *memory
	a, b    *idp
	keyA    signer
	keyB    signer
	now     time.Time
	log     *bytes.Buffer
}

func newHouse(t testing.TB, change func(*Options)) *house {
	t.Helper()
	h := &house{
		t: t, network: &memory{}, keyA: newES256("shared"), keyB: newES256("shared"),
		now: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC), log: &bytes.Buffer{},
	}
	h.a = newIDP(t, h.network, "7001", h.keyA)
	h.b = newIDP(t, h.network, "7002", h.keyB)
	o := Options{
		Resource:      resource,
		Issuers:       []Issuer{{URL: h.a.url}, {URL: h.b.url, Types: []string{"JWT", ""}}},
		DefaultScopes: []string{"mcp:tools"},
		Client:        client(t, h.network),
		Now:           func() time.Time { return h.now },
		Logger:        slog.New(slog.NewTextHandler(h.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	if change != nil {
		change(&o)
	}
	var err error
	if h.guard, err = New(o); err != nil {
		t.Fatal(err)
	}
	return h
}

// call sends a request with the token through the guard.
func (h *house) call(token string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader("{}"))
	r.Header.Set("Authorization", "Bearer "+token)
	return h.serve(r)
}

func (h *house) serve(r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.guard.Protect(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p := FromContext(r.Context())
		fmt.Fprintf(w, "%s %s %v", p.ID(), p.ClientID, p.Scopes)
	})).ServeHTTP(w, r)
	return w
}

// rsaKey is made once: it takes a while.
var rsaKey = sync.OnceValue(func() signer { return newRSA("rsa", jose.RS256, 2048) })

// TestDirectory: with [Issuer.Directory] set, the token has to name that directory, so that an issuer whose URL is the same for several
// directories, or that signs for others with the same keys, lets nobody else in.
func TestDirectory(t *testing.T) {
	h := newHouse(t, func(o *Options) { o.Issuers[0].Directory = "d1" })
	for _, tt := range []struct {
		name string
		tid  any
		want string // the reason in the log; "" if it is accepted
	}{
		{"its own", "d1", ""},
		{"another", "d2", "directory"},
		{"none", nil, "directory"},
		{"an empty one", "", "directory"},
		{"in upper case", "D1", "directory"},
		{"a longer one", "d1 ", "directory"},
		{"a list of it", []string{"d1"}, "directory"},
		{"a list of both", []string{"d2", "d1"}, "directory"},
		{"an object", map[string]any{"d1": "d1"}, "directory"},
	} {
		h.log.Reset()
		w := h.call(h.keyA.token(h.a.url, h.now, map[string]any{"tid": tt.tid}))
		if accepted := w.Code == http.StatusOK; accepted != (tt.want == "") || !strings.Contains(h.log.String(), tt.want) {
			t.Errorf("%s: status %d, log %q", tt.name, w.Code, h.log)
		}
	}
	if w := h.call(h.keyB.token(h.b.url, h.now, nil)); w.Code != http.StatusOK {
		t.Errorf("an issuer without directory: status %d", w.Code)
	}
}

// TestTokens holds the rows of the token table: T2, T4 to T8, T14, T17. A case
// says what differs from a good token and what the log says of it.
func TestTokens(t *testing.T) {
	h := newHouse(t, nil)
	good := func(change map[string]any) string { return h.keyA.token(h.a.url, h.now, change) }
	other := func(change map[string]any) string { return h.keyB.token(h.b.url, h.now, change) }
	raw := func(header, payload string) string { return h.keyA.sign(header, payload) }
	claims := fmt.Sprintf(`"iss":%q,"sub":"alice","aud":%q,"exp":%d`, h.a.url, resource, h.now.Unix()+60)
	const head = `{"alg":"ES256","typ":"at+jwt","kid":"shared"}`
	unix := h.now.Unix()

	for _, c := range []struct {
		name, token string
		want        string // "" : accepted; else the reason
	}{
		{"good", good(nil), ""},
		{"good, other issuer", other(nil), ""},
		{"good, raw", raw(head, "{"+claims+"}"), ""},

		{"T2 audience absent", good(map[string]any{"aud": nil}), "audience"},
		{"T2 audience empty", good(map[string]any{"aud": ""}), "audience"},
		{"T2 audience empty list", good(map[string]any{"aud": []string{}}), "audience"},
		{"T2 audience in a list", good(map[string]any{"aud": []string{"account", resource}}), ""},
		{"T2 audience mixed types", good(map[string]any{"aud": []any{resource, 1}}), "malformed claim"},
		{"T2 audience object", good(map[string]any{"aud": map[string]any{"x": resource}}), "malformed claim"},
		{"T2 audience longer", good(map[string]any{"aud": resource + "2"}), "audience"},
		{"T2 audience trailing slash", good(map[string]any{"aud": resource + "/"}), "audience"},
		{"T2 audience path in upper case", good(map[string]any{"aud": "https://mcp.example.com/MCP"}), "audience"},
		{"T2 audience host in upper case", good(map[string]any{"aud": "HTTPS://MCP.Example.com/mcp"}), ""},
		{"T2 audience origin only", good(map[string]any{"aud": "https://mcp.example.com"}), "audience"},

		{"T4 typ JWT", good(map[string]any{"header.typ": "JWT"}), "token type not accepted"},
		{"T4 typ absent", good(map[string]any{"header.typ": nil}), "token type not accepted"},
		{"T4 typ in full, upper case", good(map[string]any{"header.typ": "Application/AT+JWT"}), ""},
		{"T4 typ JWT where allowed", other(map[string]any{"header.typ": "jwt"}), ""},
		{"T4 typ absent where allowed", other(map[string]any{"header.typ": nil}), ""},
		{"T4 typ dpop+jwt", other(map[string]any{"header.typ": "dpop+jwt"}), "token type not accepted"},
		{"T4 ID token, nonce", other(map[string]any{"header.typ": "JWT", "nonce": "n"}), "not an access token"},
		{"T4 ID token, at_hash", other(map[string]any{"header.typ": "JWT", "at_hash": "h"}), "not an access token"},
		{"T4 ID token, c_hash", other(map[string]any{"header.typ": "JWT", "c_hash": "h"}), "not an access token"},
		{"T4 ID token, Cognito", other(map[string]any{"header.typ": nil, "token_use": "id"}), "not an access token"},
		{"T4 access token, Cognito", other(map[string]any{"header.typ": nil, "token_use": "access"}), ""},
		{"T4 ID token, Keycloak", other(map[string]any{"header.typ": "JWT", "typ": "ID"}), "not an access token"},
		{"T4 access token, Keycloak", other(map[string]any{"header.typ": "JWT", "typ": "Bearer"}), ""},
		{"T4 logout token", other(map[string]any{"header.typ": "JWT", "events": map[string]any{}}), "not an access token"},

		{"T5 none", unsigned(`{"alg":"none","typ":"at+jwt"}`, "{"+claims+"}"), "not base64url"},
		{"T5 none with a signature", raw(`{"alg":"none","typ":"at+jwt","kid":"shared"}`, "{"+claims+"}"), "algorithm not allowed"},
		{"T5 HS256", raw(`{"alg":"HS256","typ":"at+jwt","kid":"shared"}`, "{"+claims+"}"), "algorithm not allowed"},
		{"T5 algorithm absent", raw(`{"typ":"at+jwt","kid":"shared"}`, "{"+claims+"}"), "algorithm not allowed"},
		{"T5 algorithm in lower case", raw(`{"alg":"es256","typ":"at+jwt","kid":"shared"}`, "{"+claims+"}"), "algorithm not allowed"},
		{"T5 algorithm of another key type", raw(`{"alg":"RS256","typ":"at+jwt","kid":"shared"}`, "{"+claims+"}"), "signature"},
		{"T5 algorithm of another curve", raw(`{"alg":"ES384","typ":"at+jwt","kid":"shared"}`, "{"+claims+"}"), "signature"},
		{"T5 jwk", raw(`{"alg":"ES256","typ":"at+jwt","kid":"shared","jwk":{}}`, "{"+claims+"}"), "header member that is not supported"},
		{"T5 jku", raw(`{"alg":"ES256","typ":"at+jwt","jku":"http://localhost:7001/keys"}`, "{"+claims+"}"), "header member that is not supported"},
		{"T5 x5u", raw(`{"alg":"ES256","typ":"at+jwt","x5u":"http://localhost:7001/keys"}`, "{"+claims+"}"), "header member that is not supported"},
		{"T5 crit", raw(`{"alg":"ES256","typ":"at+jwt","kid":"shared","crit":["exp"],"exp":1}`, "{"+claims+"}"), "header member that is not supported"},
		{"T5 b64", raw(`{"alg":"ES256","typ":"at+jwt","kid":"shared","b64":false}`, "{"+claims+"}"), "header member that is not supported"},
		{"T5 JWE", "a.b.c.d.e", "not a JWT"},

		{"T6 issuer absent", good(map[string]any{"iss": nil}), "unknown issuer"},
		{"T6 issuer unknown", good(map[string]any{"iss": "https://evil.example"}), "unknown issuer"},
		{"T6 issuer with a slash", good(map[string]any{"iss": h.a.url + "/"}), "unknown issuer"},
		{"T6 issuer in upper case", good(map[string]any{"iss": strings.ToUpper(h.a.url)}), "unknown issuer"},
		{"T6 key of the other issuer, same id", h.keyB.token(h.a.url, h.now, nil), "signature"},

		{"T7 expiry absent", good(map[string]any{"exp": nil}), "no expiry"},
		{"T7 expiry text", good(map[string]any{"exp": fmt.Sprint(unix + 60)}), "malformed claim"},
		{"T7 expiry in the year 30000", good(map[string]any{"exp": 9e11}), "malformed claim"},
		{"T7 expiry within the skew", good(map[string]any{"exp": unix - 59}), ""},
		{"T7 expired", good(map[string]any{"exp": unix - 60}), "expired"},
		{"T7 expiry with a fraction", good(map[string]any{"exp": float64(unix) + 60.5}), ""},
		{"T7 not before, within the skew", good(map[string]any{"nbf": unix + 60}), ""},
		{"T7 not before", good(map[string]any{"nbf": unix + 61}), "not valid yet"},
		{"T7 issued in the future, within the skew", good(map[string]any{"iat": unix + 60}), ""},
		{"T7 issued in the future", good(map[string]any{"iat": unix + 61}), "issued in the future"},
		{"T7 not before, negative", good(map[string]any{"nbf": -1}), "malformed claim"},

		{"T8 too long", good(map[string]any{"pad": strings.Repeat("x", maxToken)}), "token too long"},
		{"T8 dots", strings.Repeat(".", 5), "not a JWT"},
		{"T8 one part", "abc", "not a JWT"},
		{"T8 empty parts", "..", "not base64url"},
		{"T8 not base64url", strings.Replace(good(nil), ".", "~.", 1), "not base64url"},
		{"T8 padding", good(nil) + "=", "not base64url"},
		{"T8 trailing bits", trailingBits(raw(head+" ", "{"+claims+"}")), "not base64url"},
		{"T8 header twice alg", raw(`{"alg":"none","alg":"ES256","typ":"at+jwt","kid":"shared"}`, "{"+claims+"}"), "not a JSON object with unique members"},
		{"T8 payload twice sub", raw(head, `{"sub":"bob",`+claims+"}"), "not a JSON object with unique members"},
		{"T8 payload twice sub, escaped", raw(head, `{"s\u0075b":"bob",`+claims+"}"), "not a JSON object with unique members"},
		{"T8 payload twice within", raw(head, `{"x":{"a":1,"a":2},`+claims+"}"), "not a JSON object with unique members"},
		{"T8 payload Sub", raw(head, `{"Sub":"bob",`+claims+"}"), "malformed claim"},
		{"T8 payload sub NUL", raw(head, `{"sub\u0000":"bob",`+claims+"}"), "malformed claim"},
		{"T8 header Alg", raw(`{"Alg":"none","alg":"ES256","typ":"at+jwt","kid":"shared"}`, "{"+claims+"}"), "malformed header"},
		{"T8 header kid NUL", raw(`{"kid\u0000":"x","alg":"ES256","typ":"at+jwt","kid":"shared"}`, "{"+claims+"}"), "malformed header"},
		{"T8 subject with half a surrogate pair", raw(head, `{"iss":"`+h.a.url+`","sub":"a\ud800","aud":"`+resource+`","exp":`+fmt.Sprint(unix+60)+`}`), "malformed claim"},
		{"T8 claim named with half a surrogate pair", raw(head, `{"iss":"`+h.a.url+`","sub":"a","aud":"`+resource+`","exp":`+fmt.Sprint(unix+60)+`,"role\udc00":"x"}`), "malformed claim"},
		{"T8 claim named with a surrogate pair", raw(head, `{"iss":"`+h.a.url+`","sub":"a","aud":"`+resource+`","exp":`+fmt.Sprint(unix+60)+`,"role\ud83d\ude00":"x"}`), ""},
		{"T8 subject with a surrogate pair", raw(head, `{"iss":"`+h.a.url+`","sub":"\ud83d\ude00","aud":"`+resource+`","exp":`+fmt.Sprint(unix+60)+`}`), ""},
		{"T8 payload not an object", raw(head, `["x"]`), "not a JSON object with unique members"},
		{"T8 payload two texts", raw(head, "{"+claims+"}{}"), "not a JSON object with unique members"},
		{"T8 payload deep", raw(head, `{"x":`+strings.Repeat("[", 40)+strings.Repeat("]", 40)+","+claims+"}"), "not a JSON object with unique members"},
		{"T8 kid a number", raw(`{"alg":"ES256","typ":"at+jwt","kid":1}`, "{"+claims+"}"), "malformed header"},
		{"T8 payload invalid UTF-8", raw(head, `{"x":"`+"\xff"+`",`+claims+"}"), "not a JSON object with unique members"},

		{"T14 fabricated", "sk-x", "not a JWT"},
		{"T14 signature of nothing", good(nil)[:len(good(nil))-86] + strings.Repeat("A", 86), "signature"},
		{"T14 payload replaced", swapPayload(good(nil), other(nil)), "signature"},

		{"T17 DPoP-bound", good(map[string]any{"cnf": map[string]any{"jkt": "x"}}), "bound to a key that was not proven"},
		{"T17 mTLS-bound", good(map[string]any{"cnf": map[string]any{"x5t#S256": "x"}}), "bound to a key that was not proven"},
		{"T17 cnf null", good(map[string]any{"cnf": []any{}}), "bound to a key that was not proven"},

		{"neither subject nor client", good(map[string]any{"sub": nil, "client_id": nil}), "neither subject nor client"},
		{"client only", good(map[string]any{"sub": nil}), ""},
		{"kid absent", good(map[string]any{"header.kid": nil}), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			h.log.Reset()
			w := h.call(c.token)
			got := ""
			if w.Code != http.StatusOK {
				_, rest, _ := strings.Cut(h.log.String(), "reason=")
				got, _, _ = strings.Cut(rest, " issuer=")
				got = strings.Trim(got, `"`)
			}
			if got != c.want {
				t.Errorf("got %q (status %d), want %q", got, w.Code, c.want)
			}
			if c.want != "" {
				description := "the access token is not valid here"
				if c.want == "expired" {
					description = "the access token has expired"
				}
				want := `401 Bearer error="invalid_token", error_description="` + description + `", scope="mcp:tools", ` +
					`resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp"` + "\n" +
					`{"error":"invalid_token","error_description":"` + description + `"}` + "\n"
				if diff := cmp.Diff(want, fmt.Sprintf("%d %s\n%s", w.Code, w.Header().Get("WWW-Authenticate"), w.Body)); diff != "" {
					t.Error(diff)
				}
			}
			// T1: nothing of the token in log or answer.
			for _, part := range strings.Split(c.token, ".") {
				if len(part) >= 12 && (strings.Contains(h.log.String(), part[:12]) || strings.Contains(fmt.Sprint(w.Header(), w.Body), part[:12])) {
					t.Errorf("part of the token came out: %s", h.log)
				}
			}
		})
	}
	// T5: what is wrong in itself causes no network call.
	if n := h.a.fetches.Load(); n != 1 {
		t.Errorf("%d fetches of the first key set, want 1", n)
	}
}

func unsigned(header, payload string) string {
	e := base64.RawURLEncoding.EncodeToString
	return e([]byte(header)) + "." + e([]byte(payload)) + "."
}

// swapPayload returns b with the payload of a.
func swapPayload(a, b string) string {
	x, y := strings.Split(a, "."), strings.Split(b, ".")
	return y[0] + "." + x[1] + "." + y[2]
}

// trailingBits changes the bits of the header's last character that carry
// nothing: lenient decoders take the result for the same token.
func trailingBits(token string) string {
	head, rest, _ := strings.Cut(token, ".")
	last := head[len(head)-1]
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	return head[:len(head)-1] + string(alphabet[strings.IndexByte(alphabet, last)|1]) + "." + rest
}

// TestAlgorithms verifies a token of each kind of key.
func TestAlgorithms(t *testing.T) {
	h := newHouse(t, nil)
	rs := rsaKey()
	ps := signer{"ps", jose.PS256, rs.private}
	ed := newEdDSA("ed")
	h.a.change(func() { h.a.keys = []signer{rs, ps, ed, h.keyA} })
	for _, s := range []signer{rs, ps, ed, h.keyA} {
		if w := h.call(s.token(h.a.url, h.now, nil)); w.Code != http.StatusOK {
			t.Errorf("%s: %d %s", s.algorithm, w.Code, h.log)
		}
	}
	// T5: a key that says what it is for is used for nothing else.
	if w := h.call(signer{"rs", jose.PS256, rs.private}.token(h.a.url, h.now, map[string]any{"header.kid": "rsa"})); w.Code != http.StatusUnauthorized {
		t.Errorf("PS256 with a key for RS256: %d", w.Code)
	}
}

// TestAlgorithmsOfIssuer narrows the algorithms of one issuer.
func TestAlgorithmsOfIssuer(t *testing.T) {
	h := newHouse(t, func(o *Options) { o.Issuers[0].Algorithms = []string{"RS256"} })
	if w := h.call(h.keyA.token(h.a.url, h.now, nil)); w.Code != http.StatusUnauthorized {
		t.Errorf("ES256 where only RS256 is allowed: %d", w.Code)
	}
	if w := h.call(h.keyB.token(h.b.url, h.now, nil)); w.Code != http.StatusOK {
		t.Errorf("other issuer: %d", w.Code)
	}
}

// TestPrincipal shows what becomes of the claims.
func TestPrincipal(t *testing.T) {
	h := newHouse(t, nil)
	for _, c := range []struct {
		change map[string]any
		want   string
	}{
		{nil, "http://localhost:7001|alice app [mcp:tools orders:read]"},
		{map[string]any{"scope": nil, "scp": []string{"a", "b c"}}, "http://localhost:7001|alice app [a]"},
		{map[string]any{"scope": nil, "scp": "a b"}, "http://localhost:7001|alice app [a b]"},
		{map[string]any{"scope": "a \"b\" c\\ ä"}, "http://localhost:7001|alice app [a]"},
		{map[string]any{"scope": nil}, "http://localhost:7001|alice app []"},
		{map[string]any{"client_id": nil, "azp": "web"}, "http://localhost:7001|alice web [mcp:tools orders:read]"},
		{map[string]any{"sub": nil}, "http://localhost:7001#app app [mcp:tools orders:read]"},
	} {
		if diff := cmp.Diff(c.want, h.call(h.keyA.token(h.a.url, h.now, c.change)).Body.String()); diff != "" {
			t.Error(diff)
		}
	}
}
