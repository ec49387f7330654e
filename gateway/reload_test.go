package gateway_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"drawbridge/config"
	"drawbridge/gateway"
	"drawbridge/gateway/signal"
	"drawbridge/test/gatewaytest"
	"drawbridge/test/timebox"
)

// TestReloadNeverOpensTheGateway: a file without auth is good for a loopback address, but the process listens where it
// did when it started.
func TestReloadNeverOpensTheGateway(t *testing.T) {
	auth := "auth: {issuers: [{issuer: 'https://idp.example.com'}], default_scopes: [x]}\n"
	r := gatewaytest.Run(t, map[string]string{
		"drawbridge.yaml": "server: {listen: '0.0.0.0:8080', public_url: 'https://mcp.example.com'}\napis: [{spec: a.yaml}]\n" + auth,
		"a.yaml":          gatewaytest.Document("A", "one"),
	})
	r.Served()
	r.Write(map[string]string{"drawbridge.yaml": "apis: [{spec: a.yaml}]\n"})
	err := r.Reload(t.Context())
	const want = "auth: the gateway listens on 0.0.0.0:8080, and a configuration without auth is for loopback addresses; keep auth, or restart the gateway"
	if err == nil || err.Error() != want {
		t.Errorf("reload = %v, want %s", err, want)
	}
	if r.Current().Main.Guard == nil || gatewaytest.Do(r.Handler(), http.MethodGet, "/.well-known/oauth-protected-resource", nil).Code != http.StatusOK {
		t.Error("the guard is gone")
	}
}

// TestReloadsFasterThanDocuments: a configuration whose documents are read is replaced by newer ones for a while only, and then comes into use
// before them.
func TestReloadsFasterThanDocuments(t *testing.T) {
	for _, tt := range []struct {
		name       string
		replaceFor time.Duration
		want       []string // what is served, one configuration after the other
	}{
		{"early", time.Hour, []string{"a_one b_third"}},
		{"late", 1, []string{"a_one b_first", "a_one b_third"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			arrived, release := make(chan struct{}, 1), make(chan struct{})
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
				signal.Raise(arrived)
				select {
				case <-release:
				case <-req.Context().Done():
				}
				_, _ = io.WriteString(w, gatewaytest.Document("B", strings.Trim(req.URL.Path, "/")))
			}))
			defer server.Close()
			var r *gatewaytest.Running
			var mu sync.Mutex
			var served []string
			begun := make(chan struct{})
			r = gatewaytest.RunWith(t, map[string]string{"drawbridge.yaml": "- a.yaml\n", "a.yaml": gatewaytest.Document("A", "one")}, gateway.Options{
				Test: gateway.TestOptions{ReplaceFor: tt.replaceFor},
				InUse: func(*config.Config) {
					timebox.Wait(t, begun)
					mu.Lock()
					defer mu.Unlock()
					served = append(served, strings.Join(r.Tools(), " "))
				},
			})
			close(begun)
			r.Served()
			var ends []<-chan error
			for _, path := range []string{"first", "second", "third"} {
				r.Write(map[string]string{"drawbridge.yaml": "apis: [{spec: a.yaml}, {spec: " + server.URL + "/" + path + "}]\n"})
				ends = append(ends, submit(r, true)) // when it was taken, the one before has begun
				if path == "first" {
					timebox.Wait(t, arrived)
				}
			}
			close(release)
			for n, end := range ends {
				if err := timebox.Receive(t, end); err != nil {
					t.Errorf("reload %d: %v", n, err)
				}
			}
			mu.Lock()
			defer mu.Unlock()
			if served = slices.Compact(served); !slices.Equal(served, tt.want) { // the watcher asks for some once more
				t.Errorf("came into use: %q, want %q", served, tt.want)
			}
		})
	}
}

// submit requests a reload, as an operator or as a change of the file, and returns when it is taken.
func submit(r *gatewaytest.Running, asked bool) <-chan error {
	r.T.Helper()
	done, err := r.ReloadRunner().Submit(r.T.Context(), asked)
	if err != nil {
		r.T.Fatal(err)
	}
	return done
}
