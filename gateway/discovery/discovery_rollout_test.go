package discovery_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"drawbridge/test/gatewaytest"
	"drawbridge/test/timebox"
)

// contextService is a service below a context path, which has nothing elsewhere. Its document is what text returns for its own address.
func contextService(t *testing.T, path string, text func(address string) string, operations ...string) *httptest.Server {
	t.Helper()
	var s *httptest.Server
	s = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		below, ok := strings.CutPrefix(r.URL.Path, path+"/")
		switch {
		case ok && below == "v3/api-docs":
			fmt.Fprint(w, text(s.Listener.Addr().String()))
		case ok && slices.Contains(operations, below):
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"by": %q}`, s.Listener.Addr().String())
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// described returns a document of a version with a server; "" for none.
func described(server, version string, operations ...string) string {
	text := strings.Replace(gatewaytest.Document("orders", operations...), "version: '1'", fmt.Sprintf("version: %q", version), 1)
	if server != "" {
		text += fmt.Sprintf("servers: [{url: %q}]\n", server)
	}
	return text
}

// Services with a context path are found and called without a line for each: by the path of their servers, by the metadata that frameworks
// write, by their names.
func TestContextPath(t *testing.T) {
	servers := func(address string) string {
		return described("http://"+address+"/shop", "1", "list")
	}
	none := func(string) string { return described("", "1", "list") }
	relative := func(string) string { return described("/shop/", "1", "list") }
	public := func(string) string { return described("https://api.example.com/v1", "1", "list") }
	group := func(name string, s *httptest.Server, labels string) string {
		return fmt.Sprintf(`{"targets": [%q], "labels": {"service": %q%s}}`, s.Listener.Addr(), name, labels)
	}
	r := gatewaytest.Run(t, map[string]string{
		"drawbridge.yaml": `discovery:
  - name: shop
    file: {paths: [targets.json]}
    allow_addresses: [127.0.0.0/8]
    documents: {paths: [/v3/api-docs, "/{name}/v3/api-docs"]}
`,
		"targets.json": "[" + strings.Join([]string{
			group("instance", contextService(t, "/shop", servers, "list"), `, "openapi": "/shop/v3/api-docs"`),
			group("relative", contextService(t, "/shop", relative, "list"), `, "contextPath": "/shop"`),
			group("context", contextService(t, "/shop", none, "list"), `, "server.servlet.context-path": "/shop"`),
			group("public", contextService(t, "/shop", public, "list"), `, "context-path": "/shop"`),
			group("named", contextService(t, "/shop", public, "list"), `, "base_path": "/shop"`),
			group("shop", contextService(t, "/shop", servers, "list"), ""),
			group("root", contextService(t, "", public, "list"), ""),
			group("at-root", contextService(t, "", relative, "list"), `, "base_path": "/"`),
		}, ",") + "]",
	})
	names := []string{"at-root", "context", "instance", "named", "public", "relative", "root", "shop"}
	r.Eventually("all are served", func() bool { return len(r.Tools()) == len(names) })
	for _, name := range names {
		tool := "shop-" + name + "_list"
		if got := gatewaytest.NewClient(t, r.Handler(), "2026-07-28", "").Call(tool).Body.String(); !strings.Contains(got, `"by":`) {
			t.Errorf("%s: %s", tool, got)
		}
		report, _ := r.Report("shop-" + name)
		said := ""
		for _, p := range report.Problems {
			said += p.Message
		}
		if want := "if the service is at /v1, set the label base_path of its registration: /v1"; strings.Contains(said, want) != (name == "root") {
			t.Errorf("%s: the problems are %q", tool, said)
		}
	}
}

// A rollout under calls: none fails, the tools of the new version are there within seconds of its first instance, and their calls go where
// they can be answered.
func TestRolloutUnderCalls(t *testing.T) {
	text := func(version string, operations ...string) func(string) string {
		return func(address string) string {
			return described("http://"+address+"/shop", version, operations...)
		}
	}
	v1 := contextService(t, "/shop", text("1.0.0", "list"), "list")
	v2 := contextService(t, "/shop", text("2.0.0", "list", "refund"), "list", "refund")
	files := func(servers ...*httptest.Server) map[string]string {
		var all []string
		for _, s := range servers {
			all = append(all, fmt.Sprintf("%q", s.Listener.Addr()))
		}
		return map[string]string{"targets.json": `[{"targets": [` + strings.Join(all, ",") + `], "labels": {"service": "orders", "contextPath": "/shop"}}]`}
	}
	r := gatewaytest.Run(t, map[string]string{"drawbridge.yaml": `discovery:
  - {name: shop, file: {paths: [targets.json]}, allow_addresses: [127.0.0.0/8]}
`, "targets.json": files(v1)["targets.json"]})
	r.Eventually("the first version is served", func() bool { return slices.Equal(r.Tools(), []string{"shop-orders_list"}) })
	call := func(tool string) string {
		return gatewaytest.NewClient(t, r.Handler(), "2026-07-28", "").Call(tool).Body.String()
	}
	var stop atomic.Bool
	done := make(chan string)
	go func() {
		failed := ""
		for !stop.Load() {
			if got := call("shop-orders_list"); !strings.Contains(got, `"by":`) {
				failed = got
			}
		}
		done <- failed
	}()
	began := time.Now()
	r.Write(files(v1, v2))
	r.Eventually("the new tool is there", func() bool { return slices.Contains(r.Tools(), "shop-orders_refund") })
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("the new tool came after %v", took)
	}
	for range 20 {
		if got := call("shop-orders_refund"); !strings.Contains(got, v2.Listener.Addr().String()) {
			t.Fatal(got)
		}
	}
	if versions := r.Status().Discovery.Services[0].Versions; len(versions) != 2 || versions[0].Version != "2.0.0" || !versions[0].InUse {
		t.Errorf("the versions are %v", versions)
	}
	r.Write(files(v2))
	r.Eventually("the rollout ends", func() bool { return len(r.Status().Discovery.Services[0].Versions) == 0 })
	stop.Store(true)
	if failed := timebox.Receive(t, done); failed != "" {
		t.Errorf("a call failed: %s", failed)
	}
}

// A reload looks again for documents that were not found.
func TestReloadWakesMissing(t *testing.T) {
	var there atomic.Bool
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !there.Load() || r.URL.Path != "/openapi.json" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		fmt.Fprint(w, gatewaytest.Document("orders", "list"))
	}))
	defer s.Close()
	r := gatewaytest.Run(t, map[string]string{"drawbridge.yaml": discoveryConfig, "targets.json": targets("orders", s.Listener.Addr().String())["targets.json"]})
	r.Eventually("no document is found", func() bool {
		d := r.Status().Discovery
		return d != nil && len(d.Services) == 1 && d.Services[0].State == "missing"
	})
	there.Store(true)
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.Eventually("it is found", func() bool { return slices.Equal(r.Tools(), []string{"shop-orders_list"}) })
}
