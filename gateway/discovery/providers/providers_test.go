package providers

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
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
