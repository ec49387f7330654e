package authe2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"drawbridge/cmd/drawbridge/demo"
	_ "drawbridge/gateway" // so that go test runs again when the program has changed: it sees imports, not what we build
	"drawbridge/test/process"
)

// The authorization servers under test.
const (
	oidcProvider = "oidc-provider"
	ownServer    = "auth/authtest"
	demoProgram  = "demo --auth"
)

// setup is what a scenario wants of its gateway and of the authorization server.
type setup struct {
	server string        // one of the above
	life   time.Duration // of access tokens; default: ten minutes
	opaque bool          // tokens that only introspection understands
	dpop   bool          // tokens must be bound to a key
	nonce  bool          // proofs of that must carry one of the gateway
	origin string        // a page's origin that is let in
	second bool          // another issuer beside it, with opaque tokens
}

// world is a gateway with everything it talks to, and an ear on all that it writes and sends. When the test ends, all of
// that is searched for secrets.
type world struct {
	suite    *suite
	endpoint string
	admin    string
	issuer   string
	auth     authority // nil: the demo has its own
	second   *own      // nil: there is none
	secrets  secrets

	requests record // what reached the service
	spans    record // what reached the trace collector
	answers  record // what the clients were told
	child    *process.Child
	log      string // the file with the log of the gateway
}

// record keeps what came in. It is safe for concurrent use.
type record struct {
	mu   sync.Mutex
	text bytes.Buffer
	n    int
}

func (r *record) request(q *http.Request, body []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.n++
	fmt.Fprintf(&r.text, "%s %s\nHost: %s\n", q.Method, q.URL, q.Host)
	q.Header.Write(&r.text)
	r.text.Write(body)
	r.text.WriteString("\n")
}

func (r *record) line(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.text.WriteString(text + "\n")
}

func (r *record) copy() (text []byte, n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return bytes.Clone(r.text.Bytes()), r.n
}

// listening records each request, whole, before next answers it.
func (r *record) listening(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, err := io.ReadAll(q.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		r.request(q, body)
		q.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, q)
	})
}

const configuration = `server: {listen: %q, shutdown_delay: 0s, drain_timeout: 2s%s}
admin: {listen: %q}
telemetry: {log_level: debug, otlp_endpoint: %q}
auth:
  issuers: [%s]
  dpop_nonce: %t
  default_scopes: [orders:read]
  implies:
    orders:admin: [orders:write]
    orders:write: [orders:read]
limits: {principal_rate: off}
rules:
  - match: {method: POST}
    set: {scopes: [orders:write]}
  - match: {method: PUT}
    set: {scopes: [orders:write]}
  - match: {method: PATCH}
    set: {scopes: [orders:write]}
  - match: {method: DELETE}
    set: {scopes: [orders:admin]}
apis:
  - spec: %q
    credential: {type: api_key, in: header, name: X-Shop-Key, value: "${file:%s}"}
`

// newWorld starts everything; it ends with the test.
func newWorld(t *testing.T, s *suite, want setup) *world {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	w := &world{suite: s}
	if want.server == demoProgram {
		w.startDemo(ctx, t)
		return w
	}
	service := httptest.NewServer(w.requests.listening(demo.NewService(nil)))
	t.Cleanup(service.Close)
	collector := httptest.NewServer(w.spans.listening(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})))
	t.Cleanup(collector.Close)

	listen := s.address(t)
	w.endpoint, w.admin = "http://"+listen+"/mcp", s.address(t)
	secret := newSecret()
	w.secrets.add("the secret for introspection", secret)
	terms := terms{resource: w.endpoint, life: want.life, opaque: want.opaque, secret: secret}
	if terms.life == 0 {
		terms.life = 10 * time.Minute
	}
	var err error
	if want.server == oidcProvider {
		w.auth, err = startForeign(ctx, s.provider, terms)
	} else {
		w.auth, err = startOwn(terms, s.documents.roots)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.auth.close(); err != nil {
			t.Error(err)
		}
	})
	w.issuer = w.auth.issuer()
	if want.second {
		if w.second, err = startOwn(terms, nil); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { w.second.close() })
	}

	dir := t.TempDir()
	keep := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	asked := fmt.Sprintf(`, tokens: opaque, introspection: {client_id: gateway, client_secret: "${file:%s}"}`, keep("introspection", secret))
	issuers, server := fmt.Sprintf("{issuer: %q, skew: 1s", w.issuer), ""
	if want.opaque {
		issuers += asked
	}
	if want.dpop {
		issuers += ", dpop: require"
	}
	issuers += "}"
	if w.second != nil {
		issuers += fmt.Sprintf(", {issuer: %q%s}", w.second.issuer(), asked)
	}
	if want.origin != "" {
		server = fmt.Sprintf(", allowed_origins: [%q]", want.origin)
	}
	file := keep("gateway.yaml", fmt.Sprintf(configuration, listen, server, w.admin, collector.URL+"/v1/traces", issuers, want.nonce,
		service.URL+demo.DocumentPath, keep("shop", demo.Key)))
	log := filepath.Join(dir, "gateway.log")
	// The shell gives all of the output to a file and becomes the gateway.
	w.child, err = process.Start(context.WithoutCancel(ctx), "sh", "-c", `exec "$0" serve --config "$1" >"$2" 2>&1`, s.program, file, log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.finish(t, want.server, log) })
	if err := w.child.Await(ctx, w.ready); err != nil {
		text, _ := os.ReadFile(log)
		t.Fatalf("%v\n%s", err, text)
	}
	return w
}

// startDemo starts the program as those do who try it out. Its log is not searched: it prints a token, for its user.
func (w *world) startDemo(ctx context.Context, t *testing.T) {
	t.Helper()
	listen := w.suite.address(t)
	w.endpoint = "http://" + listen + "/mcp"
	d, err := process.Start(context.WithoutCancel(ctx), w.suite.program, "demo", "--auth", "--listen", listen)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Stop(); err != nil {
			t.Error(err)
		}
	})
	err = d.Await(ctx, func(context.Context) error {
		if !strings.Contains(d.Log(), "Serving until Ctrl-C") {
			return errors.New("it has not shown everything yet")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var metadata struct {
		Servers []string `json:"authorization_servers"`
	}
	text, _, err := w.get(ctx, "http://"+listen+"/.well-known/oauth-protected-resource/mcp")
	if err == nil {
		err = json.Unmarshal(text, &metadata)
	}
	if err != nil || len(metadata.Servers) != 1 {
		t.Fatalf("metadata of the demo: %v %s", err, text)
	}
	w.issuer = metadata.Servers[0]
}

// get fetches without keeping the connection.
func (w *world) get(ctx context.Context, url string) (text []byte, status int, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, 0, err
	}
	return w.do(r)
}

func (w *world) do(r *http.Request) (text []byte, status int, err error) {
	client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(r)
	if err != nil {
		return nil, 0, err
	}
	defer resp.Body.Close()
	text, err = io.ReadAll(resp.Body)
	return text, resp.StatusCode, err
}

func (w *world) ready(ctx context.Context) error {
	_, status, err := w.get(ctx, "http://"+w.admin+"/readyz")
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("/readyz: status %d", status)
	}
	return err
}

// finish stops the gateway and searches all that has left it.
func (w *world) finish(t *testing.T, server, log string) {
	t.Helper()
	ok := true
	complain := func(format string, args ...any) {
		t.Helper()
		ok = false
		t.Errorf(format, args...)
	}
	defer func() { w.suite.table.enter("nothing secret has left the gateway", server, "gateway", ok) }()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second) // that of the test has ended
	defer cancel()
	sinks := make(map[string][]byte)
	for _, path := range []string{"/metrics", "/apis", "/readyz", "/healthz"} {
		text, status, err := w.get(ctx, "http://"+w.admin+path)
		if err != nil || status != http.StatusOK {
			complain("%s: status %d, %v", path, status, err)
		}
		sinks[path] = text
	}
	if err := w.child.Stop(); err != nil {
		complain("%v", err)
	}
	text, err := os.ReadFile(log)
	if err != nil {
		complain("%v", err)
	}
	sinks["the log"] = text
	sinks["the service"], _ = w.requests.copy()
	sinks["the trace collector"], _ = w.spans.copy()
	sinks["what clients were told"], _ = w.answers.copy()
	// An empty sink holds no secret either.
	for sink, mark := range map[string]string{
		"the log": `"level":"DEBUG"`, "/metrics": "drawbridge_", "the service": "GET /api/v1/orders/", "the trace collector": "getOrder",
		"what clients were told": "authorization_servers",
	} {
		if !bytes.Contains(sinks[sink], []byte(mark)) {
			complain("%s does not hold %s, so that nothing can be found there:\n%.2000s", sink, mark, sinks[sink])
		}
	}
	if w.secrets.count() < 4 {
		complain("only %d secrets are known", w.secrets.count())
	}
	size := 0
	for sink, text := range sinks {
		size += len(text)
		for _, found := range w.secrets.find(text) {
			complain("%s holds %s", sink, found)
		}
		if sink != "the service" && bytes.Contains(text, []byte(demo.Key)) {
			complain("%s holds the key of the service", sink)
		}
	}
	t.Logf("searched %d KiB for %d secrets", size>>10, w.secrets.count())
	if t.Failed() {
		t.Logf("the gateway's last words:\n%s", text[max(0, len(text)-4<<10):])
	}
}
