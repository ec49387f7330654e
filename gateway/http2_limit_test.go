package gateway

import (
	"cmp"
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"drawbridge/gateway/audit"
	"drawbridge/test/timebox"
)

// TestRequestsOverHTTP2: an address has as many requests under way over HTTP/2 as it may have connections; those behind a trusted proxy each count
// for themselves, and what has become a stream of changes counts no more.
func TestRequestsOverHTTP2(t *testing.T) {
	const cfg = `server: {trusted_proxies: [192.0.2.9]}
auth: {anonymous: true}
apis: [{name: shop, spec: $SPEC, base_url: $BASE}]
limits: {max_connections_per_address: 1, address_rate: off}
`
	g := start(t, document("Shop", "list"), cfg, newRecordingService(t).URL)
	out := &sink{}
	log, err := audit.New(audit.Options{Output: out})
	if err != nil {
		t.Fatal(err)
	}
	setAudit(g, log)
	refused := "" // the first request that was
	request := func(ctx context.Context, peer, caller, method, body string) *http.Request {
		r := httptest.NewRequestWithContext(ctx, http.MethodPost, "http://127.0.0.1:8080/mcp", strings.NewReader(body))
		r.ProtoMajor, r.ProtoMinor, r.RemoteAddr = 2, 0, peer+":1"
		r.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {method}}
		if caller != "" {
			r.Header.Set("X-Forwarded-For", caller)
		}
		return r
	}
	const list = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
	lists := func(peer, caller string) int {
		w := httptest.NewRecorder()
		g.Handler().ServeHTTP(w, request(t.Context(), peer, caller, "tools/list", list))
		if w.Code == http.StatusServiceUnavailable && (w.Body.Len() > 0 || w.Header().Get("Retry-After") != "1" || w.Header().Get("X-Request-Id") == "") {
			t.Errorf("the refusal has %q, %v", w.Body, w.Header())
		}
		refused = cmp.Or(refused, w.Header().Get("X-Request-Id"))
		return w.Code
	}
	slow := &waiting{begun: make(chan struct{}), end: make(chan struct{})}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r := request(t.Context(), "192.0.2.9", "192.0.2.1", "tools/list", "")
		r.Body, r.ContentLength = slow, int64(len(list))
		g.Handler().ServeHTTP(httptest.NewRecorder(), r)
	}()
	timebox.Wait(t, slow.begun)
	for caller, want := range map[string]int{"192.0.2.1": http.StatusServiceUnavailable, "192.0.2.2": http.StatusOK, "192.0.2.3": http.StatusOK} {
		if got := lists("192.0.2.9", caller); got != want {
			t.Errorf("%s through a proxy = %d, want %d", caller, got, want)
		}
	}
	if got := lists("127.0.0.1", ""); got != http.StatusOK {
		t.Errorf("a peer on loopback = %d", got)
	}
	close(slow.end)
	timebox.Wait(t, ended)
	if got := lists("192.0.2.1", ""); got != http.StatusOK {
		t.Errorf("after the slow request = %d", got)
	}

	held := func() int {
		n, _ := g.connections.Held(netip.MustParsePrefix("192.0.2.1/32"))
		return n
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended = make(chan struct{})
	go func() {
		defer close(ended)
		g.Handler().ServeHTTP(httptest.NewRecorder(), request(ctx, "192.0.2.1", "", "subscriptions/listen", listenBody))
	}()
	for g.mcpHandlers.Streams() == 0 || held() > 0 {
		time.Sleep(time.Millisecond) // until the test's own deadline
	}
	if got := lists("192.0.2.1", ""); got != http.StatusOK {
		t.Errorf("beside a stream of changes = %d", got)
	}
	cancel()
	timebox.Wait(t, ended)
	// When memory is short a few are let in, lists among them.
	defer g.admission.overload.PinMemory(true)()
	if got := lists("192.0.2.1", ""); got != http.StatusOK {
		t.Errorf("when memory is short = %d", got)
	}
	g.Config().Limits.MaxConnectionsPerAddress = 100
	inner := &accepted{conns: make(chan net.Conn, 1)}
	for l := g.Listener(inner); held() < 16; { // more are not a few
		conn, _ := net.Pipe()
		inner.conns <- remote{Conn: conn, address: "192.0.2.1:1"}
		conn, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
	}
	if got := lists("192.0.2.1", ""); got != http.StatusServiceUnavailable {
		t.Errorf("one of many when memory is short = %d", got)
	}
	ctx, cancel = context.WithCancel(t.Context())
	cancel()
	if err := log.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); !strings.Contains(got, `"request":"`+refused+`"`) || !strings.Contains(got, `"outcome":"address_connections","answered":503`) {
		t.Errorf("the log has not %q:\n%s", refused, got)
	}
}

// waiting is a body that comes when it is told to.
type waiting struct {
	begun, end chan struct{}
	once       sync.Once
}

func (w *waiting) Read([]byte) (int, error) {
	w.once.Do(func() { close(w.begun) })
	<-w.end
	return 0, context.Canceled
}

func (*waiting) Close() error { return nil }
