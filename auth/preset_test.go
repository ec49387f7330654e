package auth

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"drawbridge/test/cases"
)

var update = flag.Bool("update", false, "accept what comes out")

var nowPattern = regexp.MustCompile(`NOW([+-]\d+)?`)

// TestPresets runs testdata/presets: what each provider documents of its tokens,
// and what becomes of them. A case has a file "options" (preset NAME, audience X,
// client X, introspection), tokens of a header and a payload in a line each, or
// "opaque TOKEN" with the answer of introspection, and after each the file
// "result". The audience of every ID token is accepted, so that it is refused
// for what it is.
func TestPresets(t *testing.T) {
	files, err := filepath.Glob("testdata/presets/*.txtar")
	if err != nil || len(files) < len(Presets()) {
		t.Fatalf("%d cases: %v", len(files), err)
	}
	cases.Run(t, "testdata/presets/*.txtar", func(t *testing.T, file string, a *txtar.Archive) {
		got := &txtar.Archive{Comment: a.Comment}
		var h *house
		for _, f := range a.Files {
			switch f.Name {
			case "options":
				h = presetHouse(t, strings.Split(strings.TrimSpace(string(f.Data)), "\n"))
				got.Files = append(got.Files, f)
			case "result":
			default:
				result := h.present(t, f.Name, string(f.Data))
				if kind := strings.Fields(f.Name)[0]; slices.Contains([]string{"ID", "refresh", "logout", "registration"}, kind) && result != "refused: not an access token" && result != "refused: no client" {
					t.Errorf("%s: %s", f.Name, result)
				}
				got.Files = append(got.Files, f, txtar.File{Name: "result", Data: []byte(result + "\n")})
			}
		}
		if *update {
			if err := os.WriteFile(file, txtar.Format(got), 0o600); err != nil {
				t.Fatal(err)
			}
			return
		}
		if diff := cmp.Diff(string(txtar.Format(a)), string(txtar.Format(got))); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	})
}

func presetHouse(t *testing.T, options []string) *house {
	var own, preset Issuer
	for _, line := range options {
		word, rest, _ := strings.Cut(line, " ")
		switch word {
		case "preset":
			var ok bool
			if preset, ok = Preset(rest); !ok {
				t.Fatalf("no preset %q", rest)
			}
		case "audience":
			own.Audiences = append(own.Audiences, rest)
		case "client":
			own.ClientIDs = append(own.ClientIDs, rest)
		case "introspection":
			own.Tokens, own.Introspection = Opaque, &Introspection{}
		}
	}
	own.URL = "http://localhost:7001"
	h := newHouse(t, func(o *Options) {
		i := own.WithDefaults(preset)
		if i.Introspection != nil { // the real one is not reachable
			local := *i.Introspection
			local.Endpoint = "http://localhost:7001/introspect"
			i.Introspection = &local
		}
		o.Issuers[0] = i
	})
	h.a.keys = []signer{rsaKey()}
	h.a.answers = map[string]string{}
	return h
}

// present sends a token and says what came of it.
func (h *house) present(t *testing.T, name, text string) string {
	t.Helper()
	text = strings.ReplaceAll(text, "ISSUER", h.a.url)
	text = nowPattern.ReplaceAllStringFunc(text, func(s string) string {
		offset, _ := strconv.Atoi(s[3:])
		return fmt.Sprint(h.now.Add(time.Duration(offset) * time.Second).Unix())
	})
	token, opaque := strings.CutPrefix(name, "opaque ")
	if opaque {
		h.a.change(func() { h.a.answers[token] = strings.TrimSpace(text) })
	} else {
		header, payload, _ := strings.Cut(strings.TrimSpace(text), "\n")
		token = rsaKey().sign(header, payload)
	}
	h.log.Reset()
	w := h.call(token)
	if reason := h.reason(w); reason != "" {
		return "refused: " + reason
	}
	return strings.Replace(w.Body.String(), h.a.url, "ISSUER", 1)
}

// TestPresetNames: each preset has a case, and works with nothing but a URL, an
// audience and what it asks for.
func TestPresetNames(t *testing.T) {
	want := []string{"auth0", "cognito", "dex", "entra", "google", "hydra", "keycloak", "okta"}
	if diff := cmp.Diff(want, Presets()); diff != "" {
		t.Error(diff)
	}
	for _, name := range Presets() {
		if _, err := os.Stat("testdata/presets/" + name + ".txtar"); err != nil {
			t.Error(err)
		}
		preset, _ := Preset(name)
		i := Issuer{URL: "https://idp.example.com", Audiences: []string{"x"}}.WithDefaults(preset)
		if _, err := New(Options{Resource: resource, DefaultScopes: []string{"a"}, Client: client(t, &memory{}), Issuers: []Issuer{i}}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, ok := Preset("Keycloak"); ok {
		t.Error("names are compared as they are")
	}
}

// TestWithDefaults: what is set stays, what is not comes from the preset.
func TestWithDefaults(t *testing.T) {
	d := Issuer{
		URL: "d", Tokens: Opaque, Introspection: &Introspection{}, Audiences: []string{"d"}, ClientIDs: []string{"d"}, RequireClient: true, RequireSubject: true,
		IDTokenClaims: []string{"d"}, ScopeClaims: []string{"d"}, MaxLifetime: 1, DPoP: DPoPAccept, Algorithms: []string{"d"},
		Types: []string{"d"}, Skew: 1,
	}
	if diff := cmp.Diff(d, Issuer{}.WithDefaults(d)); diff != "" {
		t.Error(diff)
	}
	google, _ := Preset("google")
	if i := (Issuer{Introspection: &Introspection{Rate: 7}}).WithDefaults(google); i.Tokens != Opaque || i.Introspection.Rate != 7 ||
		!i.Introspection.TokenInfo || i.Introspection.Endpoint != google.Introspection.Endpoint || google.Introspection.Rate != 0 {
		t.Errorf("%+v %+v", i, i.Introspection)
	}
	own := Issuer{
		URL: "o", Tokens: Opaque, Introspection: &Introspection{Rate: 1}, Audiences: []string{"o"}, ClientIDs: []string{"o"}, RequireClient: true, RequireSubject: true,
		IDTokenClaims: []string{"o"}, ScopeClaims: []string{"o"}, MaxLifetime: 2, DPoP: DPoPRequire, Algorithms: []string{"o"},
		Types: []string{"o"}, Skew: 2,
	}
	if diff := cmp.Diff(own, own.WithDefaults(d)); diff != "" {
		t.Error(diff)
	}
}

// TestIssuerRules are the options of an issuer that presets do not need to show.
func TestIssuerRules(t *testing.T) {
	for _, c := range []struct {
		name   string
		issuer Issuer
		change map[string]any
		want   string
	}{
		{"lifetime at the limit (T7)", Issuer{MaxLifetime: time.Hour}, nil, ""},
		{"lifetime beyond it", Issuer{MaxLifetime: time.Hour - 1}, nil, "lives too long"},
		{"lifetime without iat", Issuer{MaxLifetime: time.Hour - 1}, map[string]any{"iat": nil}, "lives too long"},
		{"client in the list", Issuer{ClientIDs: []string{"app"}}, nil, ""},
		{"client in the list, without audience", Issuer{ClientIDs: []string{"app"}}, map[string]any{"aud": nil}, ""},
		{"client in the list, audience empty", Issuer{ClientIDs: []string{"app"}}, map[string]any{"aud": []string{}}, "audience"},
		{"client in the list, audience of another", Issuer{ClientIDs: []string{"app"}}, map[string]any{"aud": "x"}, "audience"},
		{"client not in the list", Issuer{ClientIDs: []string{"ap"}}, nil, "client"},
		{"client not in the list, without audience", Issuer{ClientIDs: []string{"ap"}}, map[string]any{"aud": nil}, "client"},
		{"client absent", Issuer{ClientIDs: []string{"app"}}, map[string]any{"client_id": nil}, "client"},
		{"no subject", Issuer{RequireSubject: true}, map[string]any{"sub": nil}, "no subject"},
		{"empty subject", Issuer{RequireSubject: true}, map[string]any{"sub": ""}, "no subject"},
		{"no client", Issuer{RequireClient: true}, map[string]any{"client_id": nil}, "no client"},
		{"Entra ID, version 1.0", Issuer{RequireClient: true}, map[string]any{"client_id": nil, "appid": "app"}, ""},
		{"nonce is no sign", Issuer{IDTokenClaims: []string{"c_hash"}}, map[string]any{"nonce": "n", "at_hash": "x", "s_hash": "x"}, ""},
		{"c_hash is one", Issuer{IDTokenClaims: []string{"c_hash"}}, map[string]any{"c_hash": "n"}, "not an access token"},
		{"scopes that are none", Issuer{ScopeClaims: []string{"roles"}}, map[string]any{"roles": []any{map[string]any{}}}, "malformed claim"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHouse(t, func(o *Options) { c.issuer.URL = o.Issuers[0].URL; o.Issuers[0] = c.issuer })
			h.wantReason(t, h.keyA.token(h.a.url, h.now, c.change), c.want)
		})
	}
	t.Run("long-lived tokens are warned of once", func(t *testing.T) {
		h := newHouse(t, nil)
		for n := range 3 {
			h.wantStatus("long", h.keyA.token(h.a.url, h.now, map[string]any{"exp": h.now.Add(25 * time.Hour).Unix(), "jti": n}), 200)
		}
		const want = `msg="tokens of this issuer are long-lived; max_lifetime limits their lifetime" issuer=http://localhost:7001 lifetime=25h0m0s`
		if strings.Count(h.log.String(), want) != 1 || strings.Count(h.log.String(), "\n") != 1 {
			t.Error(h.log)
		}
	})
}

// TestAudienceLetters: letters that only look like those of the host, or become
// them in lower case, make another host (T2, T18).
func TestAudienceLetters(t *testing.T) {
	const own = "https://kiosk.example.com/mcp"
	h := newHouse(t, func(o *Options) { o.Resource, o.Issuers[0].DPoP = own, DPoPAccept })
	for audience, want := range map[string]string{
		own:                                  "",
		"https://KIOSK.example.com/mcp":      "",
		"https://\u212aiosk.example.com/mcp": "audience", // Kelvin sign
		"https://k\u0130osk.example.com/mcp": "audience", // I with a dot
		"https://kio\u017fk.example.com/mcp": "audience", // long s
	} {
		h.wantReason(t, h.keyA.token(h.a.url, h.now, map[string]any{"aud": audience}), want)
		if target, ok := normalizeTarget(audience); ok && (target == own) != (want == "") {
			t.Errorf("target %q became %q", audience, target)
		}
	}
}

// TestScopeClaims: the first claim that is there counts, also below others.
func TestScopeClaims(t *testing.T) {
	payload := map[string]any{
		"scope": "s", "roles": []string{"r1", "r2"}, "realm_access": map[string]any{"roles": []string{"x y", "z"}},
		"https://example.com/roles": "url", "a/b": map[string]any{"~": "escaped"}, "empty": []string{},
	}
	for names, want := range map[string][]string{
		"roles scope":               {"r1", "r2"},
		"absent scope":              {"s"},
		"/realm_access/roles scope": {"z"}, // an element is one scope, and "x y" is none
		"/realm_access/none roles":  {"r1", "r2"},
		"/roles/0":                  nil,
		"https://example.com/roles": {"url"},
		"/a~1b/~0":                  {"escaped"},
		"empty scope":               nil,
		"absent":                    nil,
	} {
		h := newHouse(t, func(o *Options) { o.Issuers[0].ScopeClaims = strings.Fields(names) })
		p, err := h.guard.authenticate(t.Context(), credential{token: h.keyA.token(h.a.url, h.now, payload)})
		if err != nil {
			t.Errorf("%s: %v", names, err)
		} else if !slices.Equal(p.Scopes, want) {
			t.Errorf("%s: %q, want %q", names, p.Scopes, want)
		}
	}
}
