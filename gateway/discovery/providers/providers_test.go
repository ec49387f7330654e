package providers

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"drawbridge/config"
	"drawbridge/gateway/discovery"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// provider loads a configuration with one provider, and makes it.
func provider(t *testing.T, text string) (discovery.Provider, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "drawbridge.yaml")
	if err := os.WriteFile(path, []byte("discovery: [{name: p, "+text+"}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, problems := config.Load(path, func(string) string { return "" })
	if c == nil {
		t.Fatal(problems)
	}
	return New(&c.Discovery[0], Options{Version: "test"})
}

// A provider of Kubernetes asks the server of its kubeconfig file, with a client whose watches have no end of its own.
func TestKubernetes(t *testing.T) {
	if _, err := provider(t, "kubernetes: {}"); err == nil || !strings.HasPrefix(err.Error(), "kubernetes: the gateway runs in no pod") {
		t.Error(err)
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Query().Get("watch") == "true" {
			w.WriteHeader(http.StatusOK)
			w.(http.Flusher).Flush()
			<-r.Context().Done()
			return
		}
		if strings.HasSuffix(r.URL.Path, "/services") {
			fmt.Fprint(w, `{"metadata":{"resourceVersion":"7"},"items":[{"metadata":{"name":"orders","namespace":"shop"},"spec":{"ports":[{"port":80}]}}]}`)
			return
		}
		fmt.Fprint(w, `{"metadata":{"resourceVersion":"7"},"items":[{"metadata":{"name":"orders-1","namespace":"shop","labels":{"kubernetes.io/service-name":"orders"}},"endpoints":[{"addresses":["10.0.0.1"]}],"ports":[{"port":80}]}]}`)
	}))
	defer s.Close()
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	text := fmt.Sprintf("current-context: c\ncontexts: [{name: c, context: {cluster: k}}]\nclusters: [{name: k, cluster: {server: %q}}]\n", s.URL)
	if err := os.WriteFile(kubeconfig, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := provider(t, fmt.Sprintf("kubernetes: {kubeconfig: %q, address: endpoints}", kubeconfig))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	p.Run(ctx, func(targets []discovery.Target, err error) {
		if err != nil || len(targets) != 1 || targets[0].Name != "orders" || fmt.Sprint(targets[0].Instances) != "[10.0.0.1:80]" {
			t.Error(targets, err)
		}
		cancel()
	})
}

// Each kind of registry that the configuration has is made.
func TestKinds(t *testing.T) {
	required := map[reflect.Type]string{
		reflect.TypeFor[config.URL](): "http://registry.test", reflect.TypeFor[[]config.File](): "[targets.json]", reflect.TypeFor[[]string](): "[orders.example.com]",
	}
	kinds := 0
	for _, f := range reflect.VisibleFields(reflect.TypeFor[config.Discovery]()) {
		if !f.Type.Implements(reflect.TypeFor[config.Registry]()) {
			continue
		}
		kinds++
		var settings []string
		for _, of := range reflect.VisibleFields(f.Type.Elem()) {
			if key := of.Tag.Get("yaml"); of.Tag.Get("required") == "true" {
				settings = append(settings, key+": "+required[of.Type])
			}
		}
		key, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if _, err := provider(t, key+": {"+strings.Join(settings, ", ")+"}"); errors.Is(err, errUnknownKind) {
			t.Error(err)
		}
	}
	if kinds == 0 {
		t.Error("the configuration has no kind of registry")
	}
}
