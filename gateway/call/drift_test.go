package call_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"drawbridge/gateway"
	"drawbridge/test/cases"
	"drawbridge/test/gatewaytest"
	"drawbridge/test/update"

	"github.com/google/go-cmp/cmp"
)

// TestDrift runs the cases of testdata/drift: calls, and how they and their answers differ from the document.
//
//	api.yaml     the document
//	config.yaml  the configuration, as in TestCalls
//	calls        lines: the tool, its arguments, the status, the media type and the body of the service's answer, with tabs between
//	drift        expected: what was counted, the most frequent first, and then the series of the metric
func TestDrift(t *testing.T) {
	cases.Run(t, "testdata/drift/*.txtar", func(t *testing.T, file string, a *txtar.Archive) {
		files := map[string]string{}
		for _, f := range a.Files {
			files[f.Name] = string(f.Data)
		}
		var answer []string
		service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", answer[1])
			status := 0
			_, _ = fmt.Sscan(answer[0], &status)
			w.WriteHeader(status)
			_, _ = io.WriteString(w, answer[2])
		}))
		defer service.Close()
		g := gatewaytest.Start(t, files["api.yaml"], files["config.yaml"], service.URL)
		for line := range strings.Lines(files["calls"]) {
			words := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
			answer = words[2:]
			if status, body := gatewaytest.Ask(t, g.Handler(), "", "tools/call", words[0], fmt.Sprintf(`"name":%q,"arguments":%s`, words[0], words[1])); status != http.StatusOK {
				t.Fatalf("%s: %d %s", line, status, body)
			}
		}
		got := driftOf(t, g)
		if *update.Expected {
			gatewaytest.Set(a, "drift", got)
			cases.Write(t, file, a)
			return
		}
		if diff := cmp.Diff(files["drift"], got); diff != "" {
			t.Error(diff)
		}
	})
}

// driftOf returns what was counted, as text, followed by the series of the metric.
func driftOf(t *testing.T, g *gateway.Gateway) string {
	t.Helper()
	var b strings.Builder
	report, _ := g.Report("shop")
	if d := report.API.Drift; d != nil {
		for i := range d.Differences {
			row := &d.Differences[i]
			fmt.Fprintf(&b, "%s %s %s\n", row.Method, row.Path, row.Text())
		}
		if s := g.Status().APIs[0].Drift; s == nil || s.Total != d.Total || s.Places != len(d.Differences) || s.Differences != nil {
			t.Errorf("summary: %+v", s)
		}
	}
	for _, line := range gatewaytest.MetricLines(g, "drawbridge_document_differences_total{") {
		b.WriteString(strings.TrimSpace(line) + "\n")
	}
	return b.String()
}
