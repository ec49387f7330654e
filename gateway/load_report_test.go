package gateway_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"drawbridge/gateway"
	"drawbridge/gateway/admin"
	"drawbridge/gateway/catalog"
	"drawbridge/gateway/generation"
	"drawbridge/openapi/text"
	"drawbridge/test/gatewaytest"
	"drawbridge/test/logbuffer"
)

// fated is a document with an operation of each fate, if deletions are excluded.
const fated = `openapi: 3.0.3
info: {title: Fated, version: '1'}
servers: [{url: https://fated.example.com}]
paths:
  /things:
    get: {operationId: list, responses: {'204': {description: ok}}}
    delete: {operationId: clear, responses: {'204': {description: ok}}}
    post:
      operationId: add
      parameters: [{name: n, in: query, schema: {type: integer, maximum: "9"}}]
      responses: {'204': {description: ok}}
    put:
      operationId: listen
      parameters: [{name: p, in: matrix, required: true, schema: {type: string}}]
      responses: {'204': {description: ok}}
`

// /apis keeps what it had and tells the fates; /apis/{name} tells each operation's.
func TestReport(t *testing.T) {
	r := gatewaytest.Run(t, map[string]string{
		"drawbridge.yaml": "apis:\n- {spec: fated.yaml, tools: {exclude: [{method: DELETE}]}}\n- {spec: absent.yaml}\n", "fated.yaml": fated,
	})
	r.Served()
	r.Eventually("both were tried", func() bool { return r.State(1).State == admin.Failed })

	get := func(target string, status int, into any) string {
		w := httptest.NewRecorder()
		r.Admin().ServeHTTP(w, httptest.NewRequest("GET", "http://localhost:9090"+target, nil))
		if w.Code != status || w.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Fatalf("%s = %d, %v: %s", target, w.Code, w.Header(), w.Body)
		}
		if into != nil {
			if w.Header().Get("Content-Type") != "application/json" {
				t.Errorf("%s: %v", target, w.Header())
			}
			if err := json.Unmarshal(w.Body.Bytes(), into); err != nil {
				t.Fatal(err)
			}
		}
		return w.Body.String()
	}
	var all admin.Status
	get("/apis", 200, &all)
	a := all.APIs[0]
	if a.Tools != 2 || a.Skipped != 1 || a.Problems != 1 || a.Operations != (admin.OperationCounts{Total: 4, Exposed: 1, Changed: 1, Excluded: 1, Skipped: 1}) ||
		a.ProblemCodes["number-text"] != 1 || a.SkipCodes["operation-parameter"] != 1 {
		t.Errorf("/apis = %+v", a)
	}
	fates := func(target string) string {
		var report admin.Report
		get(target, 200, &report)
		var b strings.Builder
		for _, op := range report.Operations {
			fmt.Fprintf(&b, "%s %s %s %s", op.Fate, op.Method, op.Path, op.Tool)
			for _, i := range op.Problems {
				fmt.Fprintf(&b, " %s", report.Problems[i].Code)
			}
			for _, reason := range op.Reasons {
				fmt.Fprintf(&b, " %s", reason.Code)
			}
			b.WriteString("\n")
		}
		return b.String()
	}
	want := "exposed GET /things fated_list\nexcluded DELETE /things  excluded\nchanged POST /things fated_add number-text\nskipped PUT /things  operation-parameter\n"
	if diff := cmp.Diff(want, fates("/apis/fated")); diff != "" {
		t.Errorf("/apis/fated (-want +got):\n%s", diff)
	}
	want = "changed POST /things fated_add number-text\nskipped PUT /things  operation-parameter\n"
	if diff := cmp.Diff(want, fates("/apis/fated?fate=skipped,changed")); diff != "" {
		t.Errorf("/apis/fated?fate= (-want +got):\n%s", diff)
	}
	var failed admin.Report
	get("/apis/absent", 200, &failed)
	if failed.API.State != admin.Failed || failed.API.Error == "" || len(failed.Operations) != 0 {
		t.Errorf("/apis/absent = %+v", failed)
	}
	if got := get("/apis/fated?fate=gone", 400, nil); got != "fate must be exposed, changed, excluded, held or skipped, or several with commas between\n" {
		t.Errorf("a fate that does not exist: %q", got)
	}
	if got := get("/apis/nobody", 404, nil); got != "there is no API of that name; /apis lists them\n" {
		t.Errorf("an API that does not exist: %q", got)
	}
}

// The gauges follow the document: a code that is no longer met leaves no series behind, on which an alert would stay.
func TestReportMetrics(t *testing.T) {
	r := gatewaytest.Run(t, map[string]string{"drawbridge.yaml": "- fated.yaml\n", "fated.yaml": fated})
	r.Served()
	series := func() string {
		families, err := r.Registry().Gather()
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for _, f := range families {
			switch f.GetName() {
			case "drawbridge_operations", "drawbridge_document_problems", "drawbridge_skipped_operations":
				for _, m := range f.GetMetric() {
					fmt.Fprintf(&b, "%s", f.GetName())
					for _, l := range m.GetLabel() {
						fmt.Fprintf(&b, " %s", l.GetValue())
					}
					fmt.Fprintf(&b, " %v\n", m.GetGauge().GetValue())
				}
			}
		}
		return b.String()
	}
	want := `drawbridge_document_problems fated number-text 1
drawbridge_operations fated changed 1
drawbridge_operations fated excluded 0
drawbridge_operations fated exposed 2
drawbridge_operations fated held 0
drawbridge_operations fated skipped 1
drawbridge_skipped_operations fated operation-parameter 1
`
	if diff := cmp.Diff(want, series()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	r.Write(map[string]string{"fated.yaml": strings.NewReplacer(`"9"`, "9", "in: matrix, required: true", "in: query").Replace(fated)})
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	want = `drawbridge_operations fated changed 0
drawbridge_operations fated excluded 0
drawbridge_operations fated exposed 4
drawbridge_operations fated held 0
drawbridge_operations fated skipped 0
`
	if diff := cmp.Diff(want, series()); diff != "" {
		t.Errorf("after a reload (-want +got):\n%s", diff)
	}
	r.Write(map[string]string{"drawbridge.yaml": "apis: [{spec: fated.yaml, name: other}]\n"})
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := series(); got != strings.ReplaceAll(want, "fated", "other") {
		t.Errorf("under another name:\n%s", got)
	}
}

// S10: what a new document brings is in the log, and that it brings tools that destroy is a warning.
func TestDiffLog(t *testing.T) {
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
	generationOf := func(text string) *generation.Generation {
		r := gatewaytest.Run(t, map[string]string{"drawbridge.yaml": "- fated.yaml\n", "fated.yaml": text})
		r.Served()
		return r.Current()
	}
	before := generationOf(strings.ReplaceAll(strings.ReplaceAll(fated, "delete:", "head:"), "post:", "patch:"))
	after := generationOf(strings.ReplaceAll(fated, "operationId: list,", "operationId: all,"))
	after.LogChanges(logger, before, after.Catalog.Diff(before.Catalog))
	after.LogChanges(logger, after, catalog.Diff{})
	want := `level=INFO msg=operations api=fated total=4 exposed=2 changed=1 excluded=0 held=0 skipped=1 problem_codes="number-text=1" skip_codes="operation-parameter=1"
level=INFO msg="tools changed" added=1 removed=1 changed=2 added_tools=[all] removed_tools=[list] changed_tools="[add clear]"
level=WARN msg="new destructive tools" count=1 tools=[clear]
`
	if diff := cmp.Diff(want, log.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestFirstLoadIsNoAlarm: at a start documents come one after the other, and what the second brings is not new to anyone; a later change
// of either is, also one that gives the API another name. (pains row 103)
func TestFirstLoadIsNoAlarm(t *testing.T) {
	const document = `{"openapi":"3.1.0","info":{"title":"TITLE","version":"1"},"paths":{"/NAME":{"METHOD":{"operationId":"NAME","responses":{"204":{"description":"-"}}}}}}`
	text := func(title, name, method string) string {
		return strings.NewReplacer("TITLE", title, "NAME", name, "METHOD", method).Replace(document)
	}
	var log logbuffer.Buffer
	r := gatewaytest.RunWith(t, map[string]string{
		"drawbridge.yaml": "- first.json\n- second.json\n",
		"first.json":      text("First", "clear", "delete"),
		"second.json":     "not yet",
	}, gateway.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	r.Served()
	const alarm = "new destructive tools"
	step := func(name, file, text string, want bool) {
		t.Helper()
		before := strings.Count(log.String(), alarm)
		r.Write(map[string]string{file: text})
		if err := r.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, a := range r.Status().APIs {
			if a.Held == nil {
				continue
			}
			if err := r.Accept(t.Context(), a.Name, a.Held.Digest); err != nil {
				t.Fatal(err)
			}
		}
		if got := strings.Count(log.String(), alarm) > before; got != want {
			t.Errorf("%s: alarm = %v, want %v\n%s", name, got, want, log.String())
		}
	}
	step("the second document can be read at last", "second.json", text("Second", "purge", "delete"), false)
	step("the first one brings another tool", "first.json", text("First", "wipe", "delete"), true)
	step("the second one has another title, and another tool", "second.json", text("Third", "erase", "delete"), true)
	step("a tool that only reads", "second.json", text("Third", "list", "get"), false)
	step("which is changed to delete, and accepted", "second.json", text("Third", "list", "delete"), true)
}

// Whatever a document holds, a text of its report stays short and valid UTF-8.
func TestClip(t *testing.T) {
	for _, raw := range []string{"", "short", strings.Repeat("a", admin.MaxText), strings.Repeat("ü", admin.MaxText)} {
		got := text.Truncate(raw, admin.MaxText)
		if len(got) > admin.MaxText || strings.ToValidUTF8(got, "") != got || len(raw) <= admin.MaxText && got != raw {
			t.Errorf("clip of %d bytes = %q", len(raw), got)
		}
	}
}
