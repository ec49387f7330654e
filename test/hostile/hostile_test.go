package hostile

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestKinds: each kind is a document of its own name that grows with its size.
func TestKinds(t *testing.T) {
	names := map[string]bool{}
	for _, k := range Kinds() {
		if names[k.Name] {
			t.Errorf("two kinds are named %q", k.Name)
		}
		names[k.Name] = true
		small, large := k.Make(k.N), k.Make(3*k.N)
		if strings.HasPrefix(small, "{") && !json.Valid([]byte(small)) {
			t.Errorf("%s is not JSON", k.Name)
		}
		if len(large) < 2*len(small) {
			t.Errorf("%s has %d bytes, three times its size %d", k.Name, len(small), len(large))
		}
	}
}
