package reload_test

import (
	"fmt"
	"strings"
	"testing"

	"drawbridge/test/gatewaytest"
)

const extensionDocument = `openapi: 3.1.0
info: {title: Shop, version: "1"}
paths:
  /a: {get: {operationId: asks, x-mcp-confirm: true, responses: {"200": {description: ok}}}}
  /b: {get: {operationId: ruled, x-mcp-confirm: true, responses: {"200": {description: ok}}}}
  /d: {get: {operationId: misspelt, x-mcp-confrim: true, x-other: 1, responses: {"200": {description: ok}}}}
  /c: {get: {operationId: waves, x-mcp-confirm: false, responses: {"200": {description: ok}}}}
`

const extensionConfig = `apis: [{name: shop, spec: $SPEC, base_url: $BASE, trust_extensions: %t}]
rules: [{match: {operation: ruled}, set: {confirm: false}}]
`

// TestExtensions holds that a document decides on its operations where it is trusted, and never against a rule.
func TestExtensions(t *testing.T) {
	service := gatewaytest.NewRecordingService(t)
	for _, trusted := range []bool{false, true} {
		g := gatewaytest.Start(t, extensionDocument, fmt.Sprintf(extensionConfig, trusted), service.URL)
		for tool, asks := range map[string]bool{"asks": trusted, "ruled": false, "waves": false, "misspelt": false} {
			_, _, body := gatewaytest.Modern(t, g.Handler(), "", tool, `{}`, "", true)
			if got := strings.Contains(body, "input_required"); got != asks {
				t.Errorf("trusted %t: %s: %s", trusted, tool, body)
			}
		}
		report, _ := g.Report("shop")
		var problems []string
		for _, p := range report.Problems {
			problems = append(problems, fmt.Sprintf("%d:%d %s %d %s", p.Place.Line, p.Place.Column, p.Code, p.Operations, p.Message))
		}
		want := ""
		if trusted {
			want = "6:37 extension 1 x-mcp-confrim: unknown extension; did you mean \"x-mcp-confirm\"?\n" +
				"7:34 extension 1 x-mcp-confirm: is false: a document can ask for consent, and can't do without it"
		}
		if got := strings.Join(problems, "\n"); got != want {
			t.Errorf("trusted %t: problems:\n%s\nwant\n%s", trusted, got, want)
		}
	}
}
