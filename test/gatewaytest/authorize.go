package gatewaytest

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// ToolNames returns the names of a tools/list answer.
func ToolNames(t *testing.T, body []byte) []string {
	t.Helper()
	var answer struct {
		Result struct {
			Tools      []struct{ Name string }
			NextCursor string
		}
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	names := []string{}
	for _, tool := range answer.Result.Tools {
		names = append(names, tool.Name)
	}
	return names
}

// Delivered tells whether the answer of the service came back.
func Delivered(w *httptest.ResponseRecorder) bool {
	return w.Code == http.StatusOK && strings.Contains(w.Body.String(), `"text":"{\"done\":true}"`)
}

// SameScopes reports whether two lists of scopes have the same members.
func SameScopes(a, b string) bool {
	return slices.Equal(slices.Sorted(slices.Values(strings.Fields(a))), slices.Sorted(slices.Values(strings.Fields(b))))
}
