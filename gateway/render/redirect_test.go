package render

import (
	"net/url"
	"strings"
	"testing"

	"drawbridge/config"
	"drawbridge/gateway/redact"
)

// FuzzRedirectLink checks that for any Location, a link is an absolute http or https URL in visible ASCII, without user
// information, and does not reveal the credential of the gateway.
func FuzzRedirectLink(f *testing.F) {
	const secret = "s3cr/t+k=y"
	for _, seed := range []string{"", "/x", "?a=b", "#f", "//host/x", "https://files.example/a?sig=%2B&b=c d", "javascript:alert(1)", "http:///x", "https://a@b/", "/\x00", "/ü\u202e?x=\u200b",
		"/?next=" + url.QueryEscape("https://h/?key="+url.QueryEscape(secret)), "/" + secret, "HTTPS://host", "http://[::1", "http:opaque", "/%s3cr", "//0\"00", "//b\u00fccher.example/x"} {
		f.Add(seed)
	}
	target, err := url.Parse("https://api.example/v1/items/7")
	if err != nil {
		f.Fatal(err)
	}
	credential := &config.Credential{Type: config.CredentialBearer, Token: config.NewSecret(secret)}
	redactor := redact.Redactor{Configured: redact.NewConfigured(nil, credential)}
	f.Fuzz(func(t *testing.T, location string) {
		link, why := RedirectLink(target, location, redactor, nil)
		if (link == "") == (why == "") {
			t.Fatalf("%q: %q, %q", location, link, why)
		}
		if link == "" {
			return
		}
		u, err := url.Parse(link)
		if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || len(link) > maxRedirectLink {
			t.Fatalf("%q: %q %v", location, link, err)
		}
		if strings.ContainsFunc(link, func(r rune) bool { return r <= ' ' || r > '~' }) {
			t.Fatalf("%q: %q", location, link)
		}
		for text, n := link, 0; n < 3; n++ {
			if strings.Contains(text, secret) {
				t.Fatalf("%q: %q", location, link)
			}
			if text, err = url.PathUnescape(text); err != nil {
				break
			}
		}
	})
}
