package auth

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	tail        = `scope="mcp:tools", resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp"`
	askForToken = "401 Bearer " + tail + "\n" + `{"error_description":"an access token is needed"}` + "\n"
	oneToken    = `400 Bearer error="invalid_request", error_description="exactly one access token must be sent, in the Authorization header", ` +
		tail + "\n" + `{"error":"invalid_request","error_description":"exactly one access token must be sent, in the Authorization header"}` + "\n"
	badTokenAnswer = `401 Bearer error="invalid_token", error_description="the access token is not valid here", ` +
		tail + "\n" + `{"error":"invalid_token","error_description":"the access token is not valid here"}` + "\n"
)

// TestCredentials is T9 and Z2: exactly one token, in one header.
func TestCredentials(t *testing.T) {
	h := newHouse(t, nil)
	good := h.keyA.token(h.a.url, h.now, nil)
	for _, c := range []struct {
		name   string
		change func(*http.Request)
		want   string
	}{
		{"none", func(*http.Request) {}, askForToken},
		{"none, GET", func(r *http.Request) { r.Method = "GET" }, askForToken},
		{"none, DELETE", func(r *http.Request) { r.Method = "DELETE" }, askForToken},
		{"none, OPTIONS", func(r *http.Request) { r.Method = "OPTIONS" }, askForToken},
		{"none, hostile host (T3)", func(r *http.Request) {
			r.Host = "evil.example"
			r.Header.Set("X-Forwarded-Host", "evil.example")
			r.Header.Set("X-Forwarded-Proto", "http")
			r.Header.Set("Forwarded", "host=evil.example")
		}, askForToken},
		{"good", func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+good) }, "200 "},
		{"scheme in lower case", func(r *http.Request) { r.Header.Set("Authorization", "bearer "+good) }, "200 "},
		{"two spaces", func(r *http.Request) { r.Header.Set("Authorization", "Bearer  "+good) }, "200 "},
		{"other scheme", func(r *http.Request) { r.Header.Set("Authorization", "Basic YTpi") }, askForToken},
		{"DPoP", func(r *http.Request) { r.Header.Set("Authorization", "DPoP "+good) }, askForToken},
		{"scheme alone", func(r *http.Request) { r.Header.Set("Authorization", "Bearer") }, oneToken},
		{"scheme and space", func(r *http.Request) { r.Header.Set("Authorization", "Bearer ") }, oneToken},
		{"scheme glued", func(r *http.Request) { r.Header.Set("Authorization", "Bearer"+good) }, askForToken},
		{"two headers", func(r *http.Request) { r.Header["Authorization"] = []string{"Bearer " + good, "Bearer " + good} }, oneToken},
		{"two headers, one empty", func(r *http.Request) { r.Header["Authorization"] = []string{"Bearer " + good, ""} }, oneToken},
		{"joined headers", func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+good+", Bearer "+good) }, oneToken},
		{"joined with another scheme", func(r *http.Request) { r.Header.Set("Authorization", "Basic YTpi, Bearer "+good) }, oneToken},
		{"two tokens", func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+good+" "+good) }, oneToken},
		{"control character", func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+good+"\x00") }, oneToken},
		{"query", func(r *http.Request) { r.URL.RawQuery = "access_token=" + good }, oneToken},
		{"query, escaped name", func(r *http.Request) { r.URL.RawQuery = "a=b&access%5Ftoken=" + good }, oneToken},
		{"query, semicolon", func(r *http.Request) { r.URL.RawQuery = "a=b;access_token=" + good }, oneToken},
		{"query and header", func(r *http.Request) {
			r.URL.RawQuery = "access_token=" + good
			r.Header.Set("Authorization", "Bearer "+good)
		}, oneToken},
		{"other query", func(r *http.Request) {
			r.URL.RawQuery = "a=b%20c"
			r.Header.Set("Authorization", "Bearer "+good)
		}, "200 "},
		{"form", func(r *http.Request) {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")
		}, oneToken},
		{"opaque (T14)", func(r *http.Request) { r.Header.Set("Authorization", "Bearer sk-1/x+y~z==") }, badTokenAnswer},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader("access_token=x"))
			c.change(r)
			w := h.serve(r)
			got := fmt.Sprintf("%d %s", w.Code, w.Header().Get("WWW-Authenticate"))
			if w.Code != http.StatusOK {
				got += "\n" + w.Body.String()
				if w.Header().Get("Cache-Control") != "no-store" {
					t.Error("the refusal may be cached")
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestMetadata is Z1.
func TestMetadata(t *testing.T) {
	for _, c := range []struct {
		resource, paths, body string
		change                func(*Options)
	}{
		{
			resource, "[/.well-known/oauth-protected-resource/mcp /.well-known/oauth-protected-resource]",
			`{"resource":"https://mcp.example.com/mcp","authorization_servers":["http://localhost:7001","http://localhost:7002"],"scopes_supported":["mcp:tools"],"bearer_methods_supported":["header"]}`,
			nil,
		},
		{
			"https://MCP.example.com", "[/.well-known/oauth-protected-resource]",
			`{"resource":"https://MCP.example.com","authorization_servers":["http://localhost:7001","http://localhost:7002"],"bearer_methods_supported":["header"]}`,
			func(o *Options) { o.DefaultScopes, o.AllowUnscoped = nil, true },
		},
		{
			"http://127.0.0.1:8080/a/mcp/", "[/.well-known/oauth-protected-resource/a/mcp /.well-known/oauth-protected-resource]",
			`{"resource":"http://127.0.0.1:8080/a/mcp/","authorization_servers":["http://localhost:7001","http://localhost:7002"],"scopes_supported":["mcp:tools"],"bearer_methods_supported":["header"]}`,
			nil,
		},
	} {
		h := newHouse(t, func(o *Options) {
			o.Resource = c.resource
			if c.change != nil {
				c.change(o)
			}
		})
		if diff := cmp.Diff(c.paths, fmt.Sprint(h.guard.MetadataPaths())); diff != "" {
			t.Error(diff)
		}
		r := httptest.NewRequest(http.MethodGet, "http://evil.example/.well-known/oauth-protected-resource", nil)
		w := httptest.NewRecorder()
		h.guard.Metadata().ServeHTTP(w, r)
		if diff := cmp.Diff("200 * application/json "+c.body, fmt.Sprint(w.Code, " ", w.Header().Get("Access-Control-Allow-Origin"), " ",
			w.Header().Get("Content-Type"), " ", w.Body)); diff != "" {
			t.Error(diff)
		}
	}
	h := newHouse(t, nil)
	for method, want := range map[string]string{
		"HEAD":    "200  ",
		"OPTIONS": "204 MCP-Protocol-Version ",
		"POST":    "405  GET, HEAD, OPTIONS",
	} {
		w := httptest.NewRecorder()
		h.guard.Metadata().ServeHTTP(w, httptest.NewRequest(method, "/", nil))
		got := fmt.Sprintf("%d %s %s", w.Code, w.Header().Get("Access-Control-Allow-Headers"), w.Header().Get("Allow"))
		if diff := cmp.Diff(want, got); diff != "" || w.Body.Len() > 0 {
			t.Errorf("%s: %s %s", method, diff, w.Body)
		}
	}
}

// TestScopes is Z4, Z5 and A8.
func TestScopes(t *testing.T) {
	h := newHouse(t, func(o *Options) {
		o.Implies = map[string][]string{"admin": {"write"}, "write": {"read", "admin"}, "all": {"admin"}}
	})
	for _, c := range []struct {
		granted, needed string
		want            bool
	}{
		{"mcp:tools", "", true},
		{"other", "", false},
		{"", "", false},
		{"read", "read", true},
		{"read", "read write", false},
		{"read write", "write read", true},
		{"all", "read write admin", true},
		{"read", "all", false},
		{"read", "rea", false},
		{"rea", "read", false},
		{"read", "READ", false},
		{"read,write", "read", false},
	} {
		p := &Principal{Scopes: strings.Fields(c.granted)}
		if got := h.guard.Allows(p, strings.Fields(c.needed)); got != c.want {
			t.Errorf("%q allows %q: %t", c.granted, c.needed, got)
		}
	}
	if h.guard.Allows(nil, []string{"read"}) || h.guard.Allows(nil, nil) {
		t.Error("nobody has a scope")
	}
}

// TestForbidden is the 403 of Z2: granted and needed scopes at once.
func TestForbidden(t *testing.T) {
	h := newHouse(t, nil)
	for _, c := range []struct {
		p      *Principal
		needed []string
		want   string
	}{
		{&Principal{Scopes: []string{"mcp:tools", "offline_access", "a"}}, []string{"orders:admin", "a"}, "mcp:tools orders:admin a"},
		{&Principal{}, nil, "mcp:tools"},
		{nil, []string{"a"}, "a"},
		{&Principal{Scopes: []string{strings.Repeat("x", maxChallengeScopes)}}, []string{"a"}, "a"},
		{&Principal{Scopes: []string{"x\", error=\"", "b", "b"}}, []string{"a"}, "b a"},
	} {
		header, body := h.guard.Forbidden(c.p, c.needed)
		want := http.Header{
			"Content-Type":  {"application/json"},
			"Cache-Control": {"no-store"},
			"Www-Authenticate": {`Bearer error="insufficient_scope", error_description="the access token lacks a scope that this call needs", scope="` +
				c.want + `", resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp"`},
		}
		if diff := cmp.Diff(want, header); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(`{"error":"insufficient_scope","error_description":"the access token lacks a scope that this call needs"}`+"\n", string(body)); diff != "" {
			t.Error(diff)
		}
	}
}

// TestForbiddenAll is the 403 of a batch: what all of its calls need, once (Z3).
func TestForbiddenAll(t *testing.T) {
	h := newHouse(t, nil)
	for _, c := range []struct {
		granted string
		sets    [][]string
		want    string
	}{
		{"x", [][]string{{"a", "b"}, nil, {"b", "c"}}, "x a b mcp:tools c"},
		{"a offline_access", [][]string{{"a"}, {"b"}}, "a b"},
		{"", [][]string{nil, nil}, "mcp:tools"},
	} {
		header, _ := h.guard.ForbiddenAll(&Principal{Scopes: strings.Fields(c.granted)}, c.sets)
		if got := header.Get("WWW-Authenticate"); !strings.Contains(got, `, scope="`+c.want+`", `) {
			t.Errorf("%s, want scope %q", got, c.want)
		}
	}
}

// TestForbiddenFullName: a client that asks for what the challenge says asks for
// names that the authorization server knows, also where tokens have short ones.
func TestForbiddenFullName(t *testing.T) {
	const uri = "https://mcp.example.com/mcp"
	h := newHouse(t, func(o *Options) {
		o.DefaultScopes = []string{uri + "/tools"}
		o.Implies = map[string][]string{
			"tools": {uri + "/tools"}, "admin": {uri + "/admin", "api://b/admin", "tools"}, "x": {"a/x", "y"},
		}
	})
	for granted, want := range map[string]string{
		"tools":         uri + "/tools " + uri + "/other",
		"admin tools":   "api://b/admin " + uri + "/tools " + uri + "/other",
		"x openid":      "x openid " + uri + "/other",
		uri + "/tools":  uri + "/tools " + uri + "/other",
		"tools other/x": uri + "/tools other/x " + uri + "/other",
	} {
		header, _ := h.guard.Forbidden(&Principal{Scopes: strings.Fields(granted)}, []string{uri + "/other"})
		if got := header.Get("WWW-Authenticate"); !strings.Contains(got, `, scope="`+want+`", `) {
			t.Errorf("%s: %s, want scope %q", granted, got, want)
		}
	}
}

// TestSubjectToken: the caller's token can be had by what exchanges it, and
// shows in no print of it or of its context (T1).
func TestSubjectToken(t *testing.T) {
	for _, keep := range []bool{true, false} {
		h := newHouse(t, func(o *Options) { o.KeepToken = keep })
		token := h.keyA.token(h.a.url, h.now, nil)
		r := httptest.NewRequest(http.MethodPost, "/mcp", nil)
		r.Header.Set("Authorization", "Bearer "+token)
		h.guard.Protect(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			got, ok := SubjectToken(r.Context())
			if ok != keep {
				t.Fatalf("kept %t: %t", keep, ok)
			}
			if !ok {
				return
			}
			used := ""
			if err := got.Use(func(token string) error { used = token; return nil }); err != nil || used != token {
				t.Errorf("used %q: %v", used, err)
			}
			text, err := json.Marshal(map[string]any{"t": got})
			if err != nil {
				t.Error(err)
			}
			var log bytes.Buffer
			slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "token", got, "holder", struct{ T Token }{got})
			all := fmt.Sprintf("%v %+v %#v %s %q %x %d %v %v %s %s", got, got, got, got, got, got, got, &got, r.Context(), text, &log)
			if strings.Contains(all, token[:8]) || strings.Contains(all, token[len(token)-12:]) || !strings.Contains(all, "[redacted]") {
				t.Error(all)
			}
		})).ServeHTTP(httptest.NewRecorder(), r)
	}
	if _, ok := SubjectToken(t.Context()); ok {
		t.Error("a token out of nowhere")
	}
}

// TestNew reports everything that is wrong with the options at once.
func TestNew(t *testing.T) {
	_, err := New(Options{
		Resource: "mcp.example.com/mcp",
		Issuers: []Issuer{
			{URL: "http://idp.example.com"},
			{URL: "https://idp.example.com/#x", Skew: -1},
			{URL: "https://idp.example.com", Algorithms: []string{"HS256"}, Audiences: []string{""}, Skew: 301e9},
			{URL: "https://twice.example.com"},
			{URL: "https://twice.example.com"},
		},
		Implies: map[string][]string{"a": {`b"`}},
	})
	want := `auth: resource identifier "mcp.example.com/mcp" is not an http or https URL without user, query and fragment
auth: a client with a transport is needed to fetch keys
auth: issuer "http://idp.example.com": only https is fetched, and http on a loopback host
auth: issuer "https://idp.example.com/#x": not an absolute URL without user, query and fragment
skew -1ns is not between 0 and 5m0s
auth: issuer "https://idp.example.com": skew 5m1s is not between 0 and 5m0s
empty audience
algorithm "HS256" is not supported
auth: issuer "https://twice.example.com" is listed twice
auth: no default scopes: an operation without a rule would be open to every token
auth: "b\"" is not a scope`
	if err == nil {
		t.Fatal("no error")
	}
	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Error(diff)
	}
	_, err = New(Options{Resource: resource, Client: &http.Client{Transport: &http.Transport{}}, DefaultScopes: []string{"offline_access"}})
	want = "auth: no issuer and no API key\nauth: scope \"offline_access\" is for clients to ask for, not for an operation to need"
	if diff := cmp.Diff(want, fmt.Sprint(err)); diff != "" {
		t.Error(diff)
	}
}

// TestPrincipalID can't be read in two ways.
func TestPrincipalID(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range []*Principal{
		nil,
		{Issuer: "https://a", Subject: "x"},
		{Issuer: "https://a", ClientID: "x"},
		{Issuer: "https://a", Subject: "|x"},
		{Issuer: "https://a", Subject: "#x"},
		{Issuer: "https://a", ClientID: "|x"},
		{Issuer: "https://b", Subject: "x"},
		{Issuer: "https://b", Subject: "x", ClientID: "y"},
	} {
		id := p.ID()
		if again := p.ID(); again != id {
			t.Errorf("%q, then %q", id, again)
		}
		if seen[id] && p.ClientID != "y" {
			t.Errorf("%q stands for two", id)
		}
		seen[id] = true
	}
}
