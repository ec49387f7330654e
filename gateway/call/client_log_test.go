package call_test

import (
	"bufio"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"drawbridge/test/gatewaytest"
)

// TestDiagnosis holds what clients that want log messages are told of a call, and that others are told nothing.
func TestDiagnosis(t *testing.T) {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/purge" {
			w.WriteHeader(http.StatusConflict)
		}
		_, _ = w.Write([]byte(`{"secret":"of the service"}`))
	}))
	defer service.Close()
	g := gatewaytest.Start(t, gatewaytest.Document("Shop", "list", "purge"), "", service.URL)
	milliseconds := regexp.MustCompile(`"milliseconds":\d+`)
	for _, tt := range []struct {
		revision, level, tool string
		want                  []string
	}{
		{"2026-07-28", "", "list", nil},
		{"2025-11-25", "", "list", nil},
		{"2026-07-28", "debug", "list", []string{
			`{"level":"debug","logger":"drawbridge","data":{"event":"request","method":"GET","path":"/list"}}`,
			`{"level":"info","logger":"drawbridge","data":{"event":"answer","status":200,"milliseconds":N}}`,
			`{"level":"debug","logger":"drawbridge","data":{"event":"outcome","outcome":"ok"}}`,
		}},
		{"2025-06-18", "debug", "list", []string{
			`{"level":"debug","logger":"drawbridge","data":{"event":"request","method":"GET","path":"/list"}}`,
			`{"level":"info","logger":"drawbridge","data":{"event":"answer","status":200,"milliseconds":N}}`,
			`{"level":"debug","logger":"drawbridge","data":{"event":"outcome","outcome":"ok"}}`,
		}},
		{"2026-07-28", "info", "list", []string{
			`{"level":"info","logger":"drawbridge","data":{"event":"answer","status":200,"milliseconds":N}}`,
		}},
		{"2025-11-25", "warning", "list", nil},
		{"2025-11-25", "warning", "purge", []string{
			`{"level":"warning","logger":"drawbridge","data":{"event":"answer","status":409,"milliseconds":N}}`,
		}},
	} {
		c := gatewaytest.NewClient(t, g.Handler(), tt.revision, "")
		if tt.revision >= "2026" {
			c.H = withMeta(g.Handler(), tt.level)
		} else if tt.level != "" {
			if w := c.Send("tools/list", "", ""); w.Code != 200 {
				t.Fatal(w.Body)
			}
			header := http.Header{
				"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "Mcp-Session-Id": {c.Session},
				"Mcp-Protocol-Version": {tt.revision},
			}
			if w := gatewaytest.Post(g.Handler(), header, `{"jsonrpc":"2.0","id":5,"method":"logging/setLevel","params":{"level":"`+tt.level+`"}}`); w.Code != 200 {
				t.Fatal(w.Body)
			}
		}
		w := c.Call(tt.tool)
		var got []string
		answered := false
		for lines := bufio.NewScanner(w.Body); lines.Scan(); {
			line := strings.TrimPrefix(lines.Text(), "data: ")
			if params, ok := strings.CutPrefix(line, `{"jsonrpc":"2.0","method":"notifications/message","params":`); ok {
				got = append(got, milliseconds.ReplaceAllString(strings.TrimSuffix(params, "}"), `"milliseconds":N`))
			}
			answered = answered || strings.Contains(line, `"result"`)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" || !answered {
			t.Errorf("%s, level %q, %s (-want +got):\n%s\nanswered: %v", tt.revision, tt.level, tt.tool, diff, answered)
		}
	}
}

// withMeta adds the log level to the _meta of a modern request.
func withMeta(h http.Handler, level string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if level == "" {
			h.ServeHTTP(w, r)
			return
		}
		body := new(strings.Builder)
		for lines := bufio.NewScanner(r.Body); lines.Scan(); {
			body.WriteString(strings.Replace(lines.Text(), `"_meta":{`, `"_meta":{"io.modelcontextprotocol/logLevel":"`+level+`",`, 1))
		}
		again := httptest.NewRequest(r.Method, r.URL.String(), strings.NewReader(body.String()))
		again.Header, again.Host = r.Header, r.Host
		h.ServeHTTP(w, again)
	})
}
