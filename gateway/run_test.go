package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"drawbridge/gateway"
	"drawbridge/gateway/admin"
	"drawbridge/gateway/call"
	"drawbridge/test/gatewaytest"
	"drawbridge/test/timebox"
)

// A document that changed needs no restart (pains row 7).
func TestReloadOfDocument(t *testing.T) {
	r := gatewaytest.Run(t, map[string]string{"drawbridge.yaml": "- a.yaml\n", "a.yaml": gatewaytest.Document("A", "one")})
	r.Served()
	if got := r.Tools(); !slices.Equal(got, []string{"one"}) {
		t.Fatalf("tools = %v", got)
	}
	r.Write(map[string]string{"a.yaml": gatewaytest.Document("A", "one", "two")})
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := r.Tools(); !slices.Equal(got, []string{"one", "two"}) {
		t.Fatalf("tools after a change = %v", got)
	}
	r.Write(map[string]string{"a.yaml": "openapi: [\n"})
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := r.Tools(); !slices.Equal(got, []string{"one", "two"}) {
		t.Errorf("tools after a broken document = %v, want the last good ones", got)
	}
	if s := r.State(0); s.State != admin.Stale || !strings.Contains(s.Error, "a.yaml:") {
		t.Errorf("state = %+v, want stale with a position", s)
	}
	r.Write(map[string]string{"a.yaml": gatewaytest.Document("A", "three")})
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := r.State(0); s.State != admin.Ready || s.Error != "" || s.Tools != 1 {
		t.Errorf("state = %+v, want ready", s)
	}
}

// Nor do the files of a document that are mounted and replaced (pains rows 7 and 8).
func TestWatchedFiles(t *testing.T) {
	r := gatewaytest.Run(t, map[string]string{"drawbridge.yaml": "- a.yaml\n", "a.yaml": gatewaytest.Document("A", "one"), "b.yaml": gatewaytest.Document("B", "two")})
	r.Served()
	r.Write(map[string]string{"a.yaml": gatewaytest.Document("A", "uno")})
	r.Eventually("a changed document is noticed", func() bool { return slices.Equal(r.Tools(), []string{"uno"}) })
	r.Write(map[string]string{"drawbridge.yaml": "- a.yaml\n- b.yaml\n"})
	r.Eventually("a changed configuration is noticed", func() bool { return slices.Equal(r.Tools(), []string{"a_uno", "b_two"}) })
}

// Files that a document refers to are watched as it is, those of a folder beside its own too (pains row 138).
func TestWatchedFilesBelowRoot(t *testing.T) {
	parameter := func(name string) string { return "{name: " + name + ", in: query, schema: {type: string}}\n" }
	r := gatewaytest.Run(t, map[string]string{
		"drawbridge.yaml": "apis: [{spec: specs/orders/a.yaml, root: specs}]\n",
		"specs/orders/a.yaml": `{"openapi": "3.0.3", "info": {"title": "A", "version": "1"}, "servers": [{"url": "https://a.example"}],
			"paths": {"/a": {"get": {"operationId": "one", "parameters": [{"$ref": "../common/p.yaml"}], "responses": {}}}}}`,
		"specs/common/p.yaml": parameter("before"),
	})
	r.Served()
	takes := func(name string) func() bool {
		return func() bool {
			p := r.Current().Main.Plan("one")
			return p != nil && strings.Contains(string(p.Operation.Input), name)
		}
	}
	r.Eventually("the file beside the document's folder is read", takes("before"))
	r.Write(map[string]string{"specs/common/p.yaml": parameter("after")})
	r.Eventually("its change is noticed", takes("after"))
}

func TestReloadOfConfiguration(t *testing.T) {
	files := map[string]string{
		"drawbridge.yaml": "apis: [{spec: a.yaml, name: a}, {spec: b.yaml, name: b}]\n",
		"a.yaml":          gatewaytest.Document("A", "one"), "b.yaml": gatewaytest.Document("B", "two"),
	}
	r := gatewaytest.Run(t, files)
	r.Served()
	r.Eventually("both are served", func() bool { return r.Status().Tools == 2 })
	before := r.Current().Main.Plan("a_one").Client

	r.Write(map[string]string{"drawbridge.yaml": "apis: [{spec: a.yaml, nam: a}]\n"})
	err := r.Reload(t.Context())
	want := filepath.Join(r.Dir, "drawbridge.yaml") + `:1:23: apis[0].nam: unknown key; did you mean "name"?`
	if err == nil || err.Error() != want {
		t.Errorf("reload of a bad configuration = %v, want %s", err, want)
	}
	if s := r.Status(); s.Tools != 2 || s.Config.Error != want {
		t.Errorf("status = %+v, want two tools and the error", s)
	}

	r.Write(map[string]string{"drawbridge.yaml": "apis: [{spec: a.yaml, name: a}]\ntools: {prefix: always}\n"})
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := r.Tools(); !slices.Equal(got, []string{"a_one"}) {
		t.Errorf("tools = %v, want only those of a", got)
	}
	if s := r.Status(); s.Config.Error != "" || len(s.APIs) != 1 {
		t.Errorf("status = %+v", s)
	}
	if r.Current().Main.Plan("a_one").Client != before {
		t.Error("an API that did not change lost its connections")
	}
}

// A document that can't be had keeps neither the gateway from its start nor other APIs from their callers (pains row 10).
func TestDegradedStart(t *testing.T) {
	var up atomic.Bool
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		switch req.URL.Path {
		case "/hang":
			select {
			case <-release:
			case <-req.Context().Done():
			}
		case "/late.yaml":
			if !up.Load() {
				http.Error(w, "starting", http.StatusBadGateway)
				return
			}
			_, _ = w.Write([]byte(gatewaytest.Document("Late", "late")))
		default:
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte("<!DOCTYPE html><title>Swagger UI</title>"))
		}
	}))
	defer server.Close()
	defer close(release)
	r := gatewaytest.Run(t, map[string]string{
		"drawbridge.yaml": "apis: [{spec: good.yaml, name: good}, {spec: " + server.URL + "/late.yaml, name: late}, {spec: " +
			server.URL + "/hang, name: hang}, {spec: " + server.URL + "/page, name: page}, {spec: none.yaml, name: none}]\n",
		"good.yaml": gatewaytest.Document("Good", "one"),
	})
	r.Served()
	r.Eventually("the others fail", func() bool {
		return r.State(1).State == admin.Failed && r.State(3).State == admin.Failed && r.State(4).State == admin.Failed
	})
	if s := r.Status(); !s.Ready || s.Tools != 1 || s.APIs[2].State != admin.Loading {
		t.Errorf("status = %+v, want the good one served while one hangs", s)
	}
	if got := r.State(3).Error; !strings.Contains(got, "HTML page") {
		t.Errorf("error of a page = %q", got)
	}
	up.Store(true)
	r.Eventually("the late one is tried again", func() bool { return r.State(1).State == admin.Ready })
}

func TestNotServedBeforeTheFirstDocument(t *testing.T) {
	g, err := gateway.New(gateway.Options{Config: gatewaytest.Configure(t, t.TempDir(), gatewaytest.Document("A", "one"), "", "http://127.0.0.1:1")})
	if err != nil {
		t.Fatal(err)
	}
	if status, _ := gatewaytest.Ask(t, g.Handler(), "", "tools/list", "", ""); status != http.StatusServiceUnavailable {
		t.Errorf("tools/list before anything is loaded = %d, want 503", status)
	}
	if s := g.Status(); s.Ready || s.APIs[0].State != admin.Loading {
		t.Errorf("status = %+v", s)
	}
}

// TestReloadUnderLoad changes the document again and again while clients call: no call fails, and each sees one
// generation.
func TestReloadUnderLoad(t *testing.T) {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"path":%q}`, req.URL.Path)
	}))
	defer service.Close()
	cfg := "apis: [{spec: a.yaml, name: a, base_url: " + service.URL + "/%d}]\n"
	r := gatewaytest.Run(t, map[string]string{"drawbridge.yaml": fmt.Sprintf(cfg, 0), "a.yaml": gatewaytest.Document("A", "one")})
	r.Served()
	done := make(chan struct{})
	var clients sync.WaitGroup
	var calls atomic.Int64
	for range 4 {
		clients.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				status, body := gatewaytest.Ask(t, r.Handler(), "", "tools/call", "one", `"name":"one","arguments":{}`)
				var answer struct{ Result struct{ IsError bool } }
				if err := json.Unmarshal(body, &answer); status != 200 || err != nil || answer.Result.IsError {
					t.Errorf("call = %d %s", status, body)
					return
				}
				calls.Add(1)
			}
		})
	}
	for i := range 50 {
		r.Write(map[string]string{"drawbridge.yaml": fmt.Sprintf(cfg, i), "a.yaml": gatewaytest.Document("A", "one", fmt.Sprintf("x%d", i))})
		if err := r.Reload(t.Context()); err != nil {
			t.Error(err)
		}
		if r.Plan(fmt.Sprintf("x%d", i)) == nil {
			t.Errorf("reload %d returned before it was served", i)
		}
	}
	close(done)
	timebox.Done(t, clients.Wait)
	if calls.Load() == 0 {
		t.Error("no call was made")
	}
}

// TestClientGone holds the time from a closed connection to the end of the upstream call: at most 50 ms (L1).
func TestClientGone(t *testing.T) {
	for _, tt := range []struct {
		revision, method string
		cancelled        bool
	}{
		{"2026-07-28", "get", true},
		{"2026-07-28", "post", true},
		{"2025-11-25", "get", true}, // a divergence: docs/mcp-support.md
		{"2025-11-25", "post", false},
	} {
		t.Run(tt.revision+" "+tt.method, func(t *testing.T) {
			arrived, cancelled, release := make(chan struct{}), make(chan time.Time, 1), make(chan struct{})
			service := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
				close(arrived)
				select {
				case <-req.Context().Done():
					cancelled <- time.Now()
				case <-release:
				}
			}))
			defer service.Close()
			api := strings.Replace(gatewaytest.Document("A", "one"), "{get:", "{"+tt.method+":", 1)
			g := gatewaytest.Start(t, api, "", service.URL)
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				gatewaytest.Ask(t, withContext(ctx, g.Handler()), tt.revision, "tools/call", "one", `"name":"one","arguments":{}`)
			}()
			timebox.Wait(t, arrived)
			gone := time.Now()
			cancel()
			if tt.cancelled {
				if d := (timebox.Receive(t, cancelled)).Sub(gone); d > 50*time.Millisecond {
					t.Errorf("the upstream call went on for %v", d)
				}
				close(release)
			} else {
				select {
				case <-cancelled:
					t.Error("a call that is not safe was cancelled")
				case <-time.After(100 * time.Millisecond): // the call must still be running after this
				}
				close(release)
			}
			timebox.Wait(t, ended)
		})
	}
}

// withContext ends requests of tools/call, but not the handshake before them, with ctx.
func withContext(ctx context.Context, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Session-Id") != "" || r.Header.Get("Mcp-Method") != "" {
			r = r.WithContext(ctx)
		}
		h.ServeHTTP(w, r)
	})
}

func TestPanicInACall(t *testing.T) {
	g := gatewaytest.Start(t, gatewaytest.Document("A", "one"), "", "http://127.0.0.1:1")
	broken := *g.Current().Main.Plan("one")
	broken.Client = nil
	g.Current().Main.Tools["one"] = call.Operation(&broken)
	status, body := gatewaytest.Ask(t, g.Handler(), "", "tools/call", "one", `"name":"one","arguments":{}`)
	if status != 200 || !strings.Contains(string(body), `"isError":true`) || !regexp.MustCompile(`Internal error of the gateway, reference [a-z2-7]{10}\.`).Match(body) {
		t.Errorf("call = %d %s", status, body)
	}
	if status, _ := gatewaytest.Ask(t, g.Handler(), "", "tools/list", "", ""); status != 200 {
		t.Errorf("after a panic tools/list = %d", status)
	}
}

// TestPanicWithAnAnswer: an answer that nobody came to read gives its place in the room of the API back.
func TestPanicWithAnAnswer(t *testing.T) {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("{}")) }))
	defer service.Close()
	g := gatewaytest.Start(t, gatewaytest.Document("A", "one"), "apis: [{name: a, spec: $SPEC, base_url: $BASE, max_in_flight: 1, max_queued: 0}]\nlimits: {address_rate: off}\n", service.URL)
	tools := g.Current().Main.Tools
	whole, broken := tools["one"], *call.PlanOf(tools["one"])
	broken.Metrics.Traffic.Wait = nil // is used when the head of the answer is there
	tools["one"] = call.Operation(&broken)
	if _, body := gatewaytest.Ask(t, g.Handler(), "", "tools/call", "one", `"name":"one","arguments":{}`); !strings.Contains(string(body), "Internal error of the gateway") {
		t.Errorf("call = %s", body)
	}
	tools["one"] = whole
	if _, body := gatewaytest.Ask(t, g.Handler(), "", "tools/call", "one", `"name":"one","arguments":{}`); strings.Contains(string(body), "isError") {
		t.Errorf("the next call = %s", body)
	}
	if inFlight, _ := call.PlanOf(whole).Client.Load(); inFlight != 0 {
		t.Errorf("%d calls are under way", inFlight)
	}
}

// TestPages holds that a list longer than a page is had whole, page by page (pains row 20).
func TestPages(t *testing.T) {
	var names []string
	for i := range 5 {
		names = append(names, fmt.Sprintf("op%d", i))
	}
	g := gatewaytest.Start(t, gatewaytest.Document("A", names...), "apis: [{name: a, spec: $SPEC}]\nserver: {page_size: 2}\n", "")
	var got []string
	cursor := ""
	for page := 0; ; page++ {
		params := ""
		if cursor != "" {
			params = fmt.Sprintf(`"cursor":%q`, cursor)
		}
		status, body := gatewaytest.Ask(t, g.Handler(), "2025-11-25", "tools/list", "", params)
		var answer struct {
			Result struct {
				Tools      []struct{ Name string }
				NextCursor *string
			}
		}
		if err := json.Unmarshal(body, &answer); status != 200 || err != nil {
			t.Fatalf("tools/list = %d %s", status, body)
		}
		for _, tool := range answer.Result.Tools {
			got = append(got, tool.Name)
		}
		if answer.Result.NextCursor == nil {
			break
		}
		if cursor = *answer.Result.NextCursor; cursor == "" || page > 5 {
			t.Fatal("an empty cursor, or one that goes round")
		}
	}
	if !slices.Equal(got, names) {
		t.Errorf("pages gave %v", got)
	}
	for _, bad := range []string{"x", cursor + "A"} {
		status, body := gatewaytest.Ask(t, g.Handler(), "2025-11-25", "tools/list", "", fmt.Sprintf(`"cursor":%q`, bad))
		if !strings.Contains(string(body), "-32602") {
			t.Errorf("cursor %q = %d %s", bad, status, body)
		}
	}
}

// TestDirectory: every document of a directory is an API of its own with the settings of the entry; parts are passed over.
// What comes, goes, or becomes a document is noticed, no tool changes its name for that, and the others are left alone.
func TestDirectory(t *testing.T) {
	const part = "get: {operationId: shared, responses: {}}\n"
	specs := t.TempDir()
	r := &gatewaytest.Running{T: t, Dir: specs}
	r.Write(map[string]string{"a.yaml": gatewaytest.Document("A", "one") + "  /shared: {$ref: part.yaml}\n", "part.yaml": part})
	r = gatewaytest.Run(t, map[string]string{"drawbridge.yaml": "apis: [{spec: " + specs + ", base_url: 'http://127.0.0.1:1', tools: {exclude: [{operation: hidden, optional: true}]}}]\n"})
	r.Served()
	is := func(names ...string) func() bool {
		return func() bool { return slices.Equal(r.Tools(), names) }
	}
	if !is("a_one", "a_shared")() || !slices.Equal(r.PassedOver(), []string{filepath.Join(specs, "part.yaml")}) {
		t.Fatalf("tools %q, passed over %q", r.Tools(), r.PassedOver())
	}
	first := r.State(0).LoadedAt
	in := &gatewaytest.Running{T: t, Dir: specs}
	in.Write(map[string]string{"b.json": `{"openapi":"3.1.0","info":{"title":"B","version":"1"},"paths":{"/two":{"get":{"operationId":"two","responses":{}}},"/h":{"get":{"operationId":"hidden","responses":{}}}}}`})
	r.Eventually("a document that comes is noticed", is("a_one", "a_shared", "b_two"))
	if !r.State(0).LoadedAt.Equal(*first) {
		t.Error("another document was read again")
	}
	in.Write(map[string]string{"part.yaml": gatewaytest.Document("Part", "three")})
	r.Eventually("a part that becomes a document is noticed", is("a_one", "b_two", "part_three"))
	if err := os.Remove(filepath.Join(specs, "b.json")); err != nil {
		t.Fatal(err)
	}
	r.Eventually("a document that goes is noticed", is("a_one", "part_three"))
}

// TestEmptyDirectory: a directory may be filled later.
func TestEmptyDirectory(t *testing.T) {
	specs := t.TempDir()
	r := gatewaytest.Run(t, map[string]string{"drawbridge.yaml": "- " + specs + "\n"})
	if s := r.Status(); s.Ready {
		t.Errorf("ready with nothing to serve: %+v", s)
	}
	in := &gatewaytest.Running{T: t, Dir: specs}
	in.Write(map[string]string{"a.yaml": gatewaytest.Document("A", "one")})
	r.Served()
	r.Eventually("a document that comes is noticed", func() bool { return slices.Equal(r.Tools(), []string{"a_one"}) })
}
