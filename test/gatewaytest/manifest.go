package gatewaytest

import (
	"encoding/json"
	"testing"
)

// Listed returns the tools of a manifest.
func Listed(t *testing.T, body []byte) (names []string) {
	t.Helper()
	var m struct{ Tools []struct{ Name string } }
	if err := json.Unmarshal(body, &m); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	for _, tool := range m.Tools {
		names = append(names, tool.Name)
	}
	return names
}
