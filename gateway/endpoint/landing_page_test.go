package endpoint

import (
	"html"
	"strings"
	"testing"

	"drawbridge/config"
)

// TestHostileLanding: a URL, which may have the Host of a request, becomes no markup.
func TestHostileLanding(t *testing.T) {
	for _, url := range []string{`http://a"><script>alert(1)</script>/mcp`, `http://</pre><img src=x onerror=alert(1)>/mcp`, `javascript:alert(1)`, `http://a'onload='x/mcp`, `</style>`} {
		var b strings.Builder
		if err := landingPage(url, &config.Auth{Issuers: []config.Issuer{{}}}).Render(t.Context(), &b); err != nil {
			t.Fatal(err)
		}
		page := b.String()
		if n := strings.Count(page, html.EscapeString(url)); n != 3 || strings.Count(page, "href=") != 1 || strings.Count(page, "<script")+strings.Count(page, "<img") > 0 || strings.Count(page, "</style>") != 1 {
			t.Errorf("%q is %d times on the page: %s", url, n, page)
		}
	}
}
