package upstream

import (
	"os"
	"strings"
	"testing"
)

// TestKindsAreDocumented: docs/resilience.md has a row for each kind of error.
func TestKindsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/resilience.md")
	if err != nil {
		t.Fatal(err)
	}
	for k := Timeout; k <= BreakerOpen; k++ {
		if !strings.Contains(string(page), "\n| `"+k.String()+"` |") {
			t.Errorf("there is no row for %s", k)
		}
	}
}
