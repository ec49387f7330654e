package call_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"regexp"
	"testing"

	"drawbridge/gateway/audit"
	"drawbridge/test/gatewaytest"
)

// TestFailedCallsAreNamed is P7: who reports a call that failed has its name in the log, in the header of the answer and, where there is a
// result, in its _meta; what a stranger sends as a name is none.
func TestFailedCallsAreNamed(t *testing.T) {
	a := gatewaytest.Accounted(t, audit.Options{Key: []byte("key")}, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/orders/404" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{}`))
	})
	token := a.I.Token(t, nil)
	made := regexp.MustCompile(`^[A-Z2-7]{16}$`)
	seen := map[string]bool{}
	for _, tt := range []struct {
		name, tool, arguments string
		named, result         bool // in the header, and in the result
	}{
		{"well", "get", `{"id":1}`, false, true},
		{"refused by the service", "get", `{"id":404}`, true, true},
		{"wrong arguments", "get", `{"id":"x"}`, true, true},
		{"not allowed", "get", `{"id":13}`, true, true},
		{"no such tool", "got", `{}`, true, false},
		{"no scope", "secret", `{}`, true, false},
	} {
		for _, revision := range gatewaytest.Eras {
			for from, given := range map[string]string{"192.0.2.1:1": "of-the-proxy", "198.51.100.7:1": ""} {
				h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					r.RemoteAddr = from
					r.Header.Set("X-Request-Id", "of-the-proxy")
					a.Handler().ServeHTTP(w, r)
				})
				w := gatewaytest.NewClient(t, h, revision, token).Send("tools/call", tt.tool, tt.arguments)
				line, got := a.Lines(1)[0]["request"], w.Header().Get("X-Request-Id")
				if !tt.named && (got != "" || nameIn(t, w) != "") {
					t.Errorf("%s, %s: %q: %s", tt.name, revision, got, w.Body)
				}
				if !tt.named {
					continue
				}
				if got != line || given != "" && got != given || given == "" && (!made.MatchString(got) || seen[got]) {
					t.Errorf("%s, %s, from %s: the answer is of %q, the line of %q", tt.name, revision, from, got, line)
				}
				seen[got] = true
				if in := nameIn(t, w); tt.result && in != got || !tt.result && in != "" {
					t.Errorf("%s, %s, from %s: %q in %s", tt.name, revision, from, in, w.Body)
				}
			}
		}
	}
}

// nameIn returns the name of the request in a result.
func nameIn(t *testing.T, w *httptest.ResponseRecorder) string {
	t.Helper()
	var answer struct {
		Result struct {
			Meta map[string]any `json:"_meta"`
		} `json:"result"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
		t.Fatalf("%v: %s", err, w.Body)
	}
	name, _ := answer.Result.Meta["drawbridge/request"].(string)
	return name
}
