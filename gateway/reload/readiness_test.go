package reload_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"drawbridge/gateway"
	"drawbridge/gateway/admin"
	"drawbridge/gateway/audit"
	"drawbridge/test/gatewaytest"
	"drawbridge/test/timebox"
)

// readyWith returns the answer to a readiness probe, in words.
func readyWith(g *gateway.Gateway, target string) (status int, text string) {
	w := gatewaytest.Do(g.Admin(), http.MethodGet, target, nil)
	return w.Code, w.Body.String()
}

// tokensOf is a configuration with tokens of issuers, and server.state_dir unless that is "".
func tokensOf(state string, list ...*gatewaytest.IDP) string {
	server := ""
	if state != "" {
		server = fmt.Sprintf("server: {state_dir: %q, public_url: %s}", state, gatewaytest.PublicURL)
	} else {
		server = fmt.Sprintf("server: {public_url: %s}", gatewaytest.PublicURL)
	}
	return server + fmt.Sprintf("\nauth: {issuers: [%s], default_scopes: [mcp:tools]}\napis: [{name: shop, spec: shop.yaml, base_url: 'http://127.0.0.1:1'}]\n", gatewaytest.Issuers(list...))
}

// TestReadyWithIssuers: a gateway that starts while its issuers are down is not ready, and says why, unless server.state_dir
// has keys that an earlier process got (T12, O6). One that has been ready stays so, whatever becomes of its issuers.
func TestReadyWithIssuers(t *testing.T) {
	i, state := gatewaytest.NewIDP(t), t.TempDir()
	files := func(text string) map[string]string {
		return map[string]string{"drawbridge.yaml": text, "shop.yaml": gatewaytest.Document("Shop", "list")}
	}
	token := i.Token(t, nil)
	first := gatewaytest.Run(t, files(tokensOf(state, i)))
	first.Eventually("it is ready", func() bool { return first.Status().Ready })
	folder := filepath.Join(state, "issuers")
	first.Eventually("the keys are stored", func() bool {
		entries, _ := os.ReadDir(folder)
		return len(entries) == 1 && strings.HasSuffix(entries[0].Name(), ".keys")
	})
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(folder, entries[0].Name())
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	i.Close()

	without := gatewaytest.Run(t, files(tokensOf("", i)))
	without.Eventually("the issuer was tried", func() bool {
		s := without.Status()
		return s.Tools == 1 && len(s.Issuers) == 1 && s.Issuers[0].Error != "" && s.Issuers[0].Error != "not tried yet"
	})
	if s := without.Status(); s.Ready || s.NotReady != admin.NoIssuer {
		t.Errorf("without keys: %+v", s)
	}
	if status, text := readyWith(without.Gateway, "/readyz"); status != http.StatusServiceUnavailable || text != string(admin.NoIssuer)+"\n" {
		t.Errorf("without keys: %d %s", status, text)
	}
	if _, text := readyWith(without.Gateway, "/readyz?verbose"); !strings.Contains(text, "\nissuer "+i.URL+": no keys: ") {
		t.Errorf("without keys: %s", text)
	}

	second := gatewaytest.Run(t, files(tokensOf(state, i)))
	second.Eventually("it is ready with stored keys", func() bool { return second.Status().Ready })
	if w := gatewaytest.NewClient(t, second.Handler(), gatewaytest.Eras[0], token).Send("tools/list", "", ""); w.Code != http.StatusOK {
		t.Errorf("a token of a stored key: %d %s", w.Code, w.Body)
	}
	if _, text := readyWith(second.Gateway, "/readyz?verbose"); !strings.Contains(text, "\nissuer "+i.URL+": 1 key, fetched at ") || !strings.Contains(text, " by an earlier process: ") {
		t.Errorf("with stored keys: %s", text)
	}
	// A reload that replaces an issuer with one that is down is no reason to be unready.
	down := gatewaytest.NewIDP(t)
	down.Close()
	second.Write(files(tokensOf(state, down)))
	if err := second.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := second.Status(); !s.Ready || len(s.Issuers) != 1 || s.Issuers[0].Issuer != down.URL {
		t.Errorf("after a reload: %+v", s)
	}

	if err := os.Chmod(file, 0o666); err != nil {
		t.Fatal(err)
	}
	third := gatewaytest.Run(t, files(tokensOf(state, i)))
	third.Eventually("the issuer was tried", func() bool {
		s := third.Status()
		return s.Tools == 1 && len(s.Issuers) == 1 && s.Issuers[0].Error != "" && s.Issuers[0].Error != "not tried yet"
	})
	if s := third.Status(); s.Ready || s.Issuers[0].Able {
		t.Errorf("with keys that everybody can write: %+v", s)
	}
}

// fullDisk is an output without space until it is given some.
type fullDisk struct {
	mu   sync.Mutex
	full bool
	text bytes.Buffer
}

func (d *fullDisk) Write(p []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.full {
		return 0, errors.New("no space left on device")
	}
	return d.text.Write(p)
}

func (d *fullDisk) set(full bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.full = full
}

func (d *fullDisk) records() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return strings.Count(d.text.String(), `"rpc":"tools/call"`)
}

// TestReadyWithAudit: once a record can't be written, the gateway is not ready, and refuses calls with 503 before it does
// anything for them, so that a load balancer sends them elsewhere. Lists are served. With space, the records of calls that were made
// are written, and the gateway is ready again. With without_audit it stays ready, and with when_full: drop it makes calls.
func TestReadyWithAudit(t *testing.T) {
	for _, tt := range []struct {
		ready      string
		drop       bool
		unready    bool
		wantStatus int
	}{
		{"any", false, true, http.StatusServiceUnavailable},
		{"{without_audit: true}", false, false, http.StatusServiceUnavailable},
		{"any", true, false, http.StatusOK},
	} {
		t.Run(fmt.Sprint(tt.ready, tt.drop), func(t *testing.T) {
			service := gatewaytest.NewRecordingService(t)
			disk := &fullDisk{}
			log, err := audit.New(audit.Options{Output: disk, Drop: tt.drop})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(context.Background())
			ended := make(chan error, 1)
			go func() { ended <- log.Run(ctx) }()
			defer func() { cancel(); timebox.Wait(t, ended) }()
			g := gatewaytest.RunWith(t, map[string]string{"shop.yaml": gatewaytest.Document("Shop", "list"), "drawbridge.yaml": fmt.Sprintf(`
server: {ready: %s, public_url: %s}
auth: {anonymous: true}
apis: [{name: shop, spec: shop.yaml, base_url: %q}]
rules: [{match: {operation: list}, set: {resource: true}}]
prompts: [{name: status, messages: [{tool: list}]}]
`, tt.ready, gatewaytest.PublicURL, service.URL)}, gateway.Options{Audit: log})
			g.Eventually("it is ready", func() bool { return g.Status().Ready })
			call := func(revision string) int {
				return gatewaytest.NewClient(t, g.Handler(), revision, "").Call("list").Code
			}
			if got := call(gatewaytest.Eras[0]); got != http.StatusOK {
				t.Fatalf("a call = %d", got)
			}
			g.Eventually("its record is written", func() bool { return disk.records() == 1 })
			disk.set(true)
			call(gatewaytest.Eras[0]) // whose record finds it out
			g.Eventually("the failure is noticed", func() bool { return !g.Status().Audit.Writable })
			if s := g.Status(); s.Ready == tt.unready || (s.NotReady == admin.NoAudit) != tt.unready || s.Audit.Refuses == tt.drop {
				t.Errorf("status %+v %+v", s, s.Audit)
			}
			if status, text := readyWith(g.Gateway, "/readyz"); (status != http.StatusOK) != tt.unready || (text == string(admin.NoAudit)+"\n") != tt.unready {
				t.Errorf("readiness %d %s", status, text)
			}
			if _, text := readyWith(g.Gateway, "/readyz?verbose"); !strings.Contains(text, "\naudit log: not writable since ") || !strings.Contains(text, "no space left on device") {
				t.Errorf("readiness: %s", text)
			}
			asked := len(service.Taken())
			for _, revision := range gatewaytest.Eras {
				c := gatewaytest.NewClient(t, g.Handler(), revision, "")
				for name, w := range map[string]*httptest.ResponseRecorder{
					"call": c.Call("list"), "read": c.Read("drawbridge://shop/list"), "prompt": c.Send("prompts/get", "status", "{}"),
				} {
					if w.Code != tt.wantStatus {
						t.Errorf("%s %s = %d %s, want %d", revision, name, w.Code, w.Body, tt.wantStatus)
					}
				}
				if w := c.Send("tools/list", "", ""); w.Code != http.StatusOK {
					t.Errorf("%s: tools/list = %d %s", revision, w.Code, w.Body)
				}
			}
			if n := len(service.Taken()); (n > 0) != tt.drop || asked == 0 {
				t.Errorf("%d requests to the service without a record", n)
			}
			if w := gatewaytest.NewClient(t, g.Handler(), gatewaytest.Eras[0], "").Call("list"); !tt.drop && (w.Header().Get("Retry-After") != "1" || !strings.Contains(w.Body.String(), "audit log")) {
				t.Errorf("refused with %v %s", w.Header(), w.Body)
			}
			disk.set(false)
			g.Eventually("it is ready again", func() bool { s := g.Status(); return s.Ready && s.Audit.Writable && s.Audit.Pending == 0 })
			if got := call(gatewaytest.Eras[1]); got != http.StatusOK {
				t.Errorf("a call with space again = %d", got)
			}
			g.Eventually("the records are written", func() bool { return disk.records() >= 3 })
		})
	}
}
