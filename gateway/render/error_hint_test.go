package render

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestHints: for each status there is a sentence that a model can act on, and none is long.
func TestHints(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	said := map[string]int{}
	for code := 300; code < 600; code++ {
		text := hint(&http.Response{StatusCode: code, Header: http.Header{}}, true, CredentialOwner{Gateway: true}, now)
		if len(text) < 20 || len(text) > 160 || !strings.HasSuffix(text, ".") {
			t.Errorf("%d: %q", code, text)
		}
		said[text] = code
	}
	if len(said) < 30 {
		t.Errorf("%d different hints", len(said))
	}
}
