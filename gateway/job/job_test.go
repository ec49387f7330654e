package job

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"testing"

	"drawbridge/config"
	"drawbridge/openapi"
)

func parse(t *testing.T, text string) *url.URL {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// TestResolve holds which URLs of an answer may be asked: those of the same origin, below the base.
func TestResolve(t *testing.T) {
	h := &Handle{Origin: parse(t, "https://api.example/v1/orders"), Base: parse(t, "https://api.example/v1")}
	for text, want := range map[string]string{
		"/v1/jobs/7":                          "https://api.example/v1/jobs/7",
		"jobs/7?x=1#part":                     "https://api.example/v1/jobs/7?x=1",
		"https://API.example:443/v1/jobs/7":   "https://API.example:443/v1/jobs/7",
		"":                                    "",
		"https://other.example/v1/jobs/7":     "",
		"http://api.example/v1/jobs/7":        "",
		"https://user@api.example/v1/jobs/7":  "",
		"/v2/jobs/7":                          "",
		"/v10/jobs":                           "",
		"/v1/%2e%2e/admin":                    "",
		"/v1/%252e%252e/admin":                "",
		"/v1/..;x=1/admin":                    "",
		"/v1/jobs%2525252525/7":               "",
		"/v1/jobs/100%25":                     "https://api.example/v1/jobs/100%25",
		"mailto:a@b.example":                  "",
		"/v1/" + string(make([]byte, maxURL)): "",
	} {
		got := ""
		if u := h.Resolve(text); u != nil {
			got = u.String()
		}
		if got != want {
			t.Errorf("%.40q: %q, want %q", text, got, want)
		}
	}
	if u := (&Handle{Origin: h.Origin}).Resolve("/v2/jobs/7"); u == nil {
		t.Error("a URL of the same origin is refused, though it may be anywhere")
	}
}

// TestRead holds what common answers say of a job.
func TestRead(t *testing.T) {
	for body, want := range map[string]Report{
		`{"status":"Running","percentComplete":40}`:        {State: Working, Word: "Running", Progress: 40, Total: 100},
		`{"properties":{"provisioningState":"Succeeded"}}`: {State: Succeeded, Word: "Succeeded"},
		`{"done":false,"progress":1,"total":3}`:            {State: Working, Progress: 1, Total: 3},
		`{"done":true,"error":{"message":"no stock"}}`:     {State: Failed, Message: "no stock"},
		`{"state":"paused"}`:                               {State: Unknown, Word: "paused"},
		`{"name":"a thing"}`:                               {},
	} {
		got := Guess().Read([]byte(body), func(text string) string { return text })
		if got.State != want.State || got.Word != want.Word || got.Message != want.Message || got.Progress != want.Progress || got.Total != want.Total {
			t.Errorf("%s: %+v, want %+v", body, got, want)
		}
	}
}

// TestBegun holds which answers begin a job that can be asked about.
func TestBegun(t *testing.T) {
	request := &http.Request{URL: parse(t, "https://api.example/v1/orders")}
	for name, tt := range map[string]struct {
		header            http.Header
		location          string
		url, result       string
		plain, callback   bool
		withoutBase, none bool
	}{
		"a place of a state":     {header: http.Header{"Operation-Location": {"/v1/jobs/7"}}, location: "/v1/orders/7", url: "https://api.example/v1/jobs/7", result: "https://api.example/v1/orders/7"},
		"a place of a thing":     {location: "/v1/orders/7", url: "https://api.example/v1/orders/7", plain: true},
		"nothing":                {none: true},
		"another origin":         {location: "https://other.example/v1/orders/7", none: true},
		"the service calls":      {callback: true, plain: true},
		"an API without a place": {location: "/v1/orders/7", withoutBase: true, none: true},
	} {
		a := &Answer{Operation: &openapi.Operation{}, Response: &http.Response{Request: request, Header: tt.header}, Location: tt.location, Base: parse(t, "https://api.example/v1"), HasCallback: tt.callback}
		if tt.withoutBase {
			a.Base = nil
		}
		h := Guess().Begun(a)
		if (h == nil) != tt.none {
			t.Errorf("%s: %+v", name, h)
			continue
		}
		if h == nil {
			continue
		}
		text := func(u *url.URL) string {
			if u == nil {
				return ""
			}
			return u.String()
		}
		if text(h.URL) != tt.url || text(h.Result) != tt.result || h.Plain != tt.plain {
			t.Errorf("%s: %s, %s, %t", name, text(h.URL), text(h.Result), h.Plain)
		}
	}
}

// TestVerify holds that a body needs the one signature that fits it.
func TestVerify(t *testing.T) {
	cb := &Callback{signature: &signature{header: "X-Signature", prefix: "sha256=", secret: []byte("key"), hash: sha256.New, decode: hex.DecodeString}}
	mac := hmac.New(sha256.New, []byte("key"))
	mac.Write([]byte("body"))
	good := "sha256=" + hex.EncodeToString(mac.Sum(nil))
	for name, tt := range map[string]struct {
		values []string
		body   string
		want   bool
	}{
		"good": {[]string{good}, "body", true}, "another body": {[]string{good}, "bodies", false}, "none": {nil, "body", false},
		"twice": {[]string{good, good}, "body", false}, "no prefix": {[]string{good[7:]}, "body", false}, "no hex": {[]string{"sha256=zz"}, "body", false},
	} {
		if got := cb.Verify(http.Header{"X-Signature": tt.values}, []byte(tt.body)); got != tt.want {
			t.Errorf("%s: %t", name, got)
		}
	}
	if !(&Callback{}).Verify(http.Header{}, nil) {
		t.Error("a body without a configured signature is refused")
	}
}

// TestConfiguredWords holds that the configuration's words come before the common ones.
func TestConfiguredWords(t *testing.T) {
	c := config.DefaultJob()
	c.States.Working = []string{"done"}
	d, err := New(c, &openapi.Operation{}, Links{}, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	if r := d.Read([]byte(`{"status":"Done"}`), func(text string) string { return text }); r.State != Working || !d.HasState || !d.Declared {
		t.Errorf("%+v, %+v", r, d)
	}
}
