package render

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestHints checks that each status has a short sentence that a model can act on.
func TestHints(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	hints := map[string]int{}
	for code := 300; code < 600; code++ {
		text := hint(&http.Response{StatusCode: code, Header: http.Header{}}, true, CredentialOwner{Gateway: true}, now)
		if len(text) < 20 || len(text) > 160 || !strings.HasSuffix(text, ".") {
			t.Errorf("%d: %q", code, text)
		}
		hints[text] = code
	}
	if len(hints) < 30 {
		t.Errorf("%d different hints", len(hints))
	}
}
