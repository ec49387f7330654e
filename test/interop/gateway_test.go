package interop

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"drawbridge/auth/authtest"
	"drawbridge/cmd/drawbridge/demo"
	_ "drawbridge/gateway" // so that go test runs again when the program has changed: it sees imports, not what we build
	"drawbridge/test/process"
)

// world is a gateway with tokens checked and the order service behind it.
type world struct {
	endpoint string
	token    string

	mu   sync.Mutex
	seen []*http.Request // what reached the service
}

// newWorld starts everything; it ends with the test.
func newWorld(t *testing.T) *world {
	t.Helper()
	program := process.BuildGateway(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	w := &world{}
	service := httptest.NewServer(demo.NewService(func(r *http.Request) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.seen = append(w.seen, r.Clone(context.WithoutCancel(r.Context())))
	}))
	t.Cleanup(service.Close)
	iss, err := authtest.Start(authtest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { iss.Close() })

	dir := t.TempDir()
	listen, admin := address(t), address(t)
	config := fmt.Sprintf(`server: {listen: %q, shutdown_delay: 0s, drain_timeout: 2s, old_transport: true}
admin: {listen: %q}
auth:
  issuers: [{issuer: %q}]
  default_scopes: [mcp:tools]
limits: {principal_rate: off}
apis:
  - spec: %q
    credential: {type: api_key, in: header, name: X-Shop-Key, value: "${SHOP_KEY:-%s}"}
`, listen, admin, iss.Issuer(), service.URL+demo.DocumentPath, demo.Key)
	file := filepath.Join(dir, "gateway.yaml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	gateway, err := process.Start(context.WithoutCancel(ctx), program, "serve", "--config", file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := gateway.Stop(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Logf("the gateway's last words:\n%s", gateway.Log())
		}
	})
	if err := gateway.AwaitGateway(ctx, admin); err != nil {
		t.Fatal(err)
	}
	w.endpoint = "http://" + listen + "/mcp"
	if w.token, err = iss.Issue(authtest.Token{Audience: []string{w.endpoint}, Scopes: []string{"mcp:tools"}, Life: time.Hour}); err != nil {
		t.Fatal(err)
	}
	return w
}

// at returns another URL of the gateway than that of the endpoint.
func (w *world) at(path string) string { return strings.TrimSuffix(w.endpoint, "/mcp") + path }

// requests returns what reached the service since the last call.
func (w *world) requests() []*http.Request {
	w.mu.Lock()
	defer w.mu.Unlock()
	seen := w.seen
	w.seen = nil
	return seen
}

// checkNoTokenWentUpstream fails the test if any part of the caller's token reached the service (T1).
func (w *world) checkNoTokenWentUpstream(t *testing.T, requests []*http.Request) {
	t.Helper()
	signature := w.token[strings.LastIndexByte(w.token, '.')+1:]
	for _, r := range requests {
		var all strings.Builder
		if err := r.Header.Write(&all); err != nil {
			t.Fatal(err)
		}
		all.WriteString(r.URL.String())
		for i := 0; i+12 <= len(signature); i++ {
			if strings.Contains(all.String(), signature[i:i+12]) {
				t.Fatalf("the caller's token reached the service: %s %s", r.Method, r.URL)
			}
		}
	}
}

func address(t *testing.T) string {
	t.Helper()
	a, err := process.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	return a
}
