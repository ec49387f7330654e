package gateway_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"drawbridge/gateway"
	"drawbridge/test/gatewaytest"
)

var consoleLink = regexp.MustCompile(`(?:href|action)="(/console[^"#]*)"`)

// consolePages returns the pages that links lead to, from the overview, at most 200, without static files.
func consolePages(t *testing.T, g *gateway.Gateway, session http.Header) (found []string) {
	t.Helper()
	seen := map[string]bool{"/console": true}
	found = []string{"/console"}
	for i := 0; i < len(found) && len(found) < 200; i++ {
		for _, m := range consoleLink.FindAllStringSubmatch(gatewaytest.Do(g.Admin(), http.MethodGet, found[i], session).Body.String(), -1) {
			path := strings.ReplaceAll(m[1], "&amp;", "&")
			forms := strings.HasSuffix(path, "/accept") || strings.HasSuffix(path, "/reload") || strings.HasSuffix(path, "/signout")
			if !seen[path] && !forms && !strings.HasPrefix(path, "/console/static/") {
				seen[path] = true
				found = append(found, path)
			}
		}
	}
	if len(found) < 5 {
		t.Errorf("the overview leads to %q alone", found)
	}
	return found
}
