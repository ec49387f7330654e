package authtest

import (
	"net/url"
	"strings"
	"testing"

	"drawbridge/auth/oauthserver"
	"drawbridge/openapi/origin"
)

// FuzzRedirect: whatever a request asks for, an answer goes only where the client said, and the consent page's policy
// names that place and nothing else.
func FuzzRedirect(f *testing.F) {
	registered := []string{"http://127.0.0.1/callback", "http://[::1]:80/callback?a=b", "https://app.example.com/cb?from=as", "com.example.other:/cb"}
	for _, seed := range append(registered, "http://127.0.0.1:5000/callback", "http://127.0.0.1:5000@evil.example/callback", "HTTP://127.0.0.1/callback",
		"http://127.0.0.1:/callback", "http://[::1]:99999/callback?a=b", "http://127.0.0.1\\@evil.example/callback", "javascript:/alert(1)", "https://a;sandbox/", "") {
		f.Add(seed)
	}
	c, err := newClient(Client{ID: "app", RedirectURIs: registered})
	if err != nil {
		f.Fatal(err)
	}
	unknown := unknownClient("x")
	f.Fuzz(func(t *testing.T, redirect string) {
		if c.allows(redirect) {
			u, err := url.Parse(redirect)
			if err != nil {
				t.Fatalf("%q: %v", redirect, err)
			}
			plain := *u
			if u.Scheme == "http" {
				plain.Host = strings.TrimSuffix(strings.TrimSuffix(u.Host, ":"+u.Port()), ":")
			}
			switch plain.String() {
			case "http://127.0.0.1/callback", "http://[::1]/callback?a=b", "https://app.example.com/cb?from=as", "com.example.other:/cb":
			default:
				t.Errorf("an answer goes to %q", redirect)
			}
		}
		if unknown.allows(redirect) {
			if u, err := url.Parse(redirect); err != nil || u.Scheme != "http" || !origin.Loopback(u.Hostname()) || u.User != nil {
				t.Errorf("an answer leaves the machine: %q", redirect)
			}
		}
		if oauthserver.CheckRedirectURI(redirect) == "" {
			if strings.ContainsAny(source(redirect), "; ,'*\r\n") {
				t.Errorf("%q gives the source %q", redirect, source(redirect))
			}
		}
	})
}
