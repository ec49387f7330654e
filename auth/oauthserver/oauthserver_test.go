package oauthserver

import (
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestChallenge is the example of RFC 7636 appendix B.
func TestChallenge(t *testing.T) {
	if got := Challenge("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"); got != "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM" {
		t.Errorf("%s", got)
	}
}

// TestForms: a request has each parameter once, in the body, and an empty one counts as absent.
func TestForms(t *testing.T) {
	for body, want := range map[string]string{
		"grant_type=a&code=b":             "",
		"grant_type=a&code=":              "",
		"grant_type=a&grant_type=a":       InvalidRequest,
		"resource=a&resource=b":           "", // RFC 8707 section 2
		"a=%zz":                           InvalidRequest,
		"a=" + strings.Repeat("b", 1<<16): InvalidRequest,
	} {
		r := httptest.NewRequest("POST", "/token", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		form, p := ReadForm(httptest.NewRecorder(), r)
		if got := p; (got == nil) != (want == "") || got != nil && got.Code != want {
			t.Errorf("%.40s: %+v, want %q", body, got, want)
		}
		if form != nil && form["code"] != nil && form.Get("code") == "" {
			t.Errorf("%s: an empty parameter is there", body)
		}
	}
}

// FuzzAddToRedirectURI: parameters of a response never change where a redirect leads.
func FuzzAddToRedirectURI(f *testing.F) {
	for _, seed := range []string{"https://app.example.com/cb", "https://app.example.com/cb?a=b", "com.example.notes:/cb", "http://127.0.0.1:1/", "http://[::1]/?"} {
		f.Add(seed, "code&x=y#z")
	}
	f.Fuzz(func(t *testing.T, redirect, code string) {
		if CheckRedirectURI(redirect) != "" {
			return
		}
		before, err := url.Parse(redirect)
		if err != nil {
			t.Fatal(err)
		}
		after, err := url.Parse(AddToRedirectURI(redirect, url.Values{"code": {code}}))
		if err != nil || after.Scheme != before.Scheme || after.Host != before.Host || after.Path != before.Path || after.Opaque != before.Opaque || after.Fragment != "" {
			t.Errorf("%q leads to %v, %v", redirect, after, err)
		}
		if values, err := url.ParseQuery(after.RawQuery); err == nil && before.RawQuery == "" && (len(values) != 1 || values.Get("code") != code) {
			t.Errorf("%q has %v", redirect, values)
		}
	})
}
