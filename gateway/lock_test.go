package gateway_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"drawbridge/config"
	"drawbridge/test/gatewaytest"
)

// TestLock: a tool that is not approved as it is can't be seen, called, read or completed, until it is (S10).
func TestLock(t *testing.T) {
	r := started(t, "- a.yaml\n")
	lock := filepath.Join(r.Dir, "approved.lock")
	approve := func(tools ...config.LockedTool) {
		t.Helper()
		if err := os.WriteFile(lock+".new", config.NewLock(tools).Encode(), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(lock+".new", lock); err != nil {
			t.Fatal(err)
		}
	}
	reload := func() {
		t.Helper()
		if err := r.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	cfg := `
tools: {lock: approved.lock}
apis: [{name: a, spec: a.yaml, base_url: "http://127.0.0.1:1"}]
rules: [{match: {operation: two}, set: {resource: {uri: "a:two", tool: true}}}]
`
	r.Write(map[string]string{"a.yaml": gatewaytest.Document("A", "one", "two", "three"), "drawbridge.yaml": strings.Replace(cfg, "tools: {lock: approved.lock}", "", 1)})
	reload()
	all := r.Lock().Tools()
	if len(all) != 3 || all[0].Name != "one" || all[0].API != "a" || all[0].Method != "GET" || all[0].Path != "/one" {
		t.Fatalf("tools = %+v", all)
	}
	r.Write(map[string]string{"drawbridge.yaml": cfg})
	if err := r.Reload(t.Context()); err == nil || !strings.Contains(err.Error(), "tools.lock: "+lock+": can't be read: no such file or directory; drawbridge lock --config FILE writes it") {
		t.Errorf("without the file: %v", err)
	}
	changed := slices.Clone(all)
	for n := range changed {
		switch changed[n].Name {
		case "two":
			changed[n].Words = "other"
		case "three":
			changed[n].Method = "POST"
		}
	}
	approve(changed...)
	reload()
	held := func(what string, tools []string, count int, reasons ...string) {
		t.Helper()
		if got := r.Tools(); !slices.Equal(got, tools) {
			t.Errorf("%s: tools = %q, want %q", what, got, tools)
		}
		for _, line := range []string{fmt.Sprintf(`drawbridge_held_tools{api="a"} %d`, count), fmt.Sprintf(`drawbridge_operations{api="a",fate="held"} %d`, count)} {
			r.Eventually(what+": the series "+line, func() bool { return len(gatewaytest.MetricLines(r.Gateway, line)) == 1 })
		}
		report := gatewaytest.Do(r.Admin(), http.MethodGet, "/apis/a?fate=held", nil).Body.String()
		for _, reason := range reasons {
			if !strings.Contains(report, reason) || r.logged(reason) == 0 {
				t.Errorf("%s: %q is not told: %s\n%s", what, reason, report, r.log)
			}
		}
	}
	held("two are changed", []string{"one"}, 2, "the tool two has another title or description than was approved", "the tool three has another method than was approved")
	if n := r.logged("tools are not served until they are approved"); n != 1 {
		t.Errorf("%d warnings", n)
	}
	for _, era := range gatewaytest.Eras {
		c := gatewaytest.NewClient(t, r.Handler(), era, "")
		for what, w := range map[string]*httptest.ResponseRecorder{"call": c.Call("two"), "read": c.Read("a:two")} {
			if !strings.Contains(w.Body.String(), `"error":{`) {
				t.Errorf("%s of a tool that is held back: %d %s", what, w.Code, w.Body)
			}
		}
		for _, list := range []string{"tools/list", "resources/list", "resources/templates/list"} {
			if w := c.Send(list, "", ""); strings.Contains(w.Body.String(), "two") {
				t.Errorf("%s has a tool that is held back: %s", list, w.Body)
			}
		}
	}

	approve(all[0])
	r.Eventually("the file is watched", func() bool { return r.logged("the tool two is new") == 1 })
	held("two are new", []string{"one"}, 2, "the tool two is new", "the tool three is new")
	approve(all...)
	r.Eventually("all are approved", func() bool { return len(r.Tools()) == 3 })
	held("all are approved", []string{"one", "three", "two"}, 0)

	// The document changes behind the back of who approved it.
	r.Write(map[string]string{"a.yaml": strings.Replace(gatewaytest.Document("A", "one", "two", "three"), "get: {operationId: one", "post: {operationId: one", 1)})
	r.Eventually("the document is read", func() bool { return len(r.Tools()) == 2 })
	held("one is another", []string{"three", "two"}, 1, "the tool one has another method, title or description, schema, request than was approved")
	approve()
	r.Eventually("nothing is approved", func() bool { return len(r.Tools()) == 0 })
	if !r.Status().Ready {
		t.Error("a gateway whose tools are held back is not ready")
	}
	if err := os.WriteFile(lock, []byte("version: 1\ntool: {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := r.Reload(t.Context()); err == nil || !strings.Contains(err.Error(), lock+":2:1: tool: unknown key") {
		t.Errorf("a bad file: %v", err)
	}
}

// TestLockOfJobs: what a rule names for a job is not requested while it is held back, since its method and path are the document's.
func TestLockOfJobs(t *testing.T) {
	r := started(t, "- a.yaml\n")
	cfg := `
tools: {lock: approved.lock}
apis: [{name: a, spec: a.yaml, base_url: "http://127.0.0.1:1"}]
rules: [{match: {operation: begin}, set: {job: {status: {operation: look}}}}]
`
	files := map[string]string{"a.yaml": gatewaytest.Document("A", "begin", "look"), "drawbridge.yaml": strings.Replace(cfg, "tools: {lock: approved.lock}", "", 1)}
	r.Write(files)
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	all := r.Lock().Tools()
	if p := r.Plans()[0]; p.Tool.Name != "begin" || p.Job == r.Builder().GuessedJob {
		t.Fatalf("%s has no job of its own", p.Tool.Name)
	}
	r.Write(map[string]string{"drawbridge.yaml": cfg, "approved.lock": string(config.NewLock(all[:1]).Encode())})
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if p := r.Plans()[0]; p.Tool.Name != "begin" || p.Job != r.Builder().GuessedJob {
		t.Errorf("%s has a job that asks what is held back", p.Tool.Name)
	}
	if want := "the tool look is new, and is held back until it is approved"; r.logged(want) == 0 {
		t.Errorf("%q is not told: %s", want, r.log)
	}
}

// TestLockOfTheWire: whoever changes where arguments go, where requests go, or what rules and tokens are held against, changes
// nothing that a model reads; the tool is held back all the same (S10). What the operator decides needs no approval.
func TestLockOfTheWire(t *testing.T) {
	const original = `openapi: 3.1.0
info: {title: A, version: "1"}
servers: [{url: "http://127.0.0.1:1/v1"}]
security: [{key: []}]
components:
  securitySchemes: {key: {type: apiKey, in: header, name: X-Key}, login: {type: openIdConnect, openIdConnectUrl: "http://127.0.0.1:1"}}
  schemas: {Pet: {type: object, properties: {name: {type: string, xml: {attribute: true}}}, xml: {name: pet}}}
paths:
  /one:
    post:
      operationId: one
      tags: [read]
      x-mcp-confirm: true
      parameters: [{name: ids, in: query, explode: false, schema: {type: array, items: {type: string}}}]
      requestBody: {content: {"application/x-www-form-urlencoded": {schema: {type: object, properties: {x: {type: array, items: {type: string}}}}, encoding: {x: {style: form, explode: false}}}}}
      responses: {"200": {description: ok}}
    put:
      operationId: two
      requestBody: {content: {"application/xml": {schema: {$ref: "#/components/schemas/Pet"}}}}
      responses: {"200": {description: ok}}
`
	r := started(t, "- a.yaml\n")
	cfg := `
tools: {lock: approved.lock}
apis: [{name: a, spec: a.yaml, trust_extensions: true, allow_servers: ["http://127.0.0.1:1"]}]
`
	r.Write(map[string]string{"a.yaml": original, "drawbridge.yaml": strings.Replace(cfg, "tools: {lock: approved.lock}", "", 1)})
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.Write(map[string]string{"approved.lock": string(r.Lock().Encode())})
	r.Write(map[string]string{"drawbridge.yaml": cfg})
	for _, tt := range []struct{ old, now, want string }{
		{"", "", ""},
		{"127.0.0.1:1/v1", "127.0.0.1:1/admin", "the tool one has another request than was approved"},
		{"in: query, explode: false", "in: query, explode: true", "the tool one has another request than was approved"},
		{"name: ids, in: query", "name: ids, in: header", "the tool one has another request than was approved"},
		{"style: form, explode: false", "style: spaceDelimited, explode: false", "the tool one has another request than was approved"},
		{"xml: {attribute: true}", "xml: {name: admin}", "the tool two has another request than was approved"},
		{"tags: [read]", "tags: [write]", "the tool one has another access than was approved"},
		// A tag is no requirement, whatever it is called.
		{"tags: [read]", "tags: [read, or, with, key, apiKey, '', header, X-Key]\n      security: []", "the tool one has another access than was approved"},
		{"security: [{key: []}]", "security: [{}]", "the tool one has another access than was approved"},
		{"security: [{key: []}]", "security: [{login: [admin]}]", "the tool one has another access than was approved"},
		{"name: X-Key", "name: X-Other", "the tool one has another access than was approved"},
		{"x-mcp-confirm: true", "x-other: true", "the tool one has another access than was approved"},
	} {
		r.Write(map[string]string{"a.yaml": strings.Replace(original, tt.old, tt.now, 1)})
		if err := r.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		report := gatewaytest.Do(r.Admin(), http.MethodGet, "/apis/a?fate=held", nil).Body.String()
		if held := strings.Contains(report, "than was approved"); tt.want == "" && held || !strings.Contains(report, tt.want) {
			t.Errorf("%q for %q: %q is not told: %s", tt.now, tt.old, tt.want, report)
		}
	}

	// base_url takes the place of the document's servers.
	own := strings.Replace(cfg, "spec: a.yaml", `spec: a.yaml, base_url: "http://127.0.0.1:2"`, 1)
	r.Write(map[string]string{"a.yaml": original, "drawbridge.yaml": strings.Replace(own, "tools: {lock: approved.lock}", "", 1)})
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.Write(map[string]string{"approved.lock": string(r.Lock().Encode())})
	r.Write(map[string]string{"a.yaml": strings.Replace(original, "127.0.0.1:1/v1", "127.0.0.1:1/admin", 1), "drawbridge.yaml": strings.Replace(own, ":2", ":3", 1)})
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := r.Tools(); len(got) != 2 {
		t.Errorf("with another base_url: tools = %q", got)
	}

	// A file that knows less approves nothing.
	r.Write(map[string]string{"approved.lock": "version: 1\ntools: {}\n"})
	want := r.Dir + "/approved.lock: is of version 1, which does not approve request, access and answers as this version of drawbridge does; see what has changed with " +
		`"drawbridge lock --config FILE --check", then approve it with "drawbridge lock --config FILE"`
	if err := r.Reload(t.Context()); err == nil || !strings.HasSuffix(err.Error(), "tools.lock: "+want) {
		t.Errorf("a file of version 1: %v, want %s", err, want)
	}
}
