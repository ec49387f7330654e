package gateway_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"drawbridge/gateway"
	"drawbridge/test/gatewaytest"
	"drawbridge/test/timebox"
)

// changingService is a service with one changing resource.
type changingService struct {
	*httptest.Server

	mu     sync.Mutex
	header http.Header // of answers
	body   string
	status int      // 0: 200, or 304 where a condition says so
	asked  []string // what each request had of conditions and callers
}

func newChangingService(t *testing.T) *changingService {
	t.Helper()
	s := &changingService{header: http.Header{"Content-Type": {"text/plain"}}, body: "one"}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		h := r.Header
		s.asked = append(s.asked, strings.TrimSpace(h.Get("If-None-Match")+h.Get("If-Modified-Since")+" "+h.Get("X-Who")))
		for name, values := range s.header {
			w.Header()[name] = values
		}
		etag, modified := s.header.Get("ETag"), s.header.Get("Last-Modified")
		if etag != "" && h.Get("If-None-Match") == etag || modified != "" && h.Get("If-Modified-Since") == modified {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		if s.status != 0 {
			w.WriteHeader(s.status)
		}
		_, _ = io.WriteString(w, s.body+h.Get("X-Who"))
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *changingService) set(status int, body string, header ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status, s.body, s.header = status, body, http.Header{"Content-Type": {"text/plain"}}
	for i := 0; i < len(header); i += 2 {
		s.header.Set(header[i], header[i+1])
	}
}

func (s *changingService) taken() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	asked := s.asked
	s.asked = nil
	return asked
}

// looks lets a gateway's watches look when the test says so.
type looks struct {
	t     *testing.T
	waits chan time.Duration // of a watch that has looked
	next  chan struct{}      // lets one look again
}

func newLooks(t *testing.T, g *gateway.Gateway) *looks {
	l := &looks{t: t, waits: make(chan time.Duration, 100), next: make(chan struct{})}
	g.Subscriptions().Pause = func(ctx context.Context, d time.Duration) bool {
		l.waits <- d
		select {
		case <-l.next:
			return true
		case <-ctx.Done():
			return false
		}
	}
	return l
}

// looked waits until a watch has looked, and returns how long it would wait then.
func (l *looks) looked() time.Duration {
	l.t.Helper()
	select {
	case d := <-l.waits:
		return d
	case <-time.After(20 * time.Second):
		l.t.Fatal("nothing was looked at")
	}
	return 0
}

func (l *looks) again() time.Duration {
	l.t.Helper()
	l.next <- struct{}{}
	return l.looked()
}

// watching is a client that listens to resources.
type watching struct {
	t        *testing.T
	server   *httptest.Server
	path     string
	header   http.Header     // of its requests
	ctx      context.Context //nolint:containedctx // as long as the client is there
	messages chan string     // "updated URI", "acknowledged URIs", other methods, "result", "end"
	answer   string          // to a legacy subscription
	end      context.CancelFunc
}

func watchOver(t *testing.T, server *httptest.Server, path, revision string, header http.Header, uri string) *watching {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	l := &watching{t: t, server: server, path: path, header: header.Clone(), ctx: ctx, messages: make(chan string, 100), end: cancel}
	header = l.header
	header.Set("Content-Type", "application/json")
	header.Set("Accept", "application/json, text/event-stream")
	header.Set("MCP-Protocol-Version", revision)
	t.Cleanup(cancel)
	if revision >= "2026" {
		header.Set("Mcp-Method", "subscriptions/listen")
		l.follow(l.send(http.MethodPost, fmt.Sprintf(`{"jsonrpc":"2.0","id":"s","method":"subscriptions/listen","params":{"notifications":{"resourceSubscriptions":[%q]},`+
			`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`, uri)))
		return l
	}
	begin := l.send(http.MethodPost, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"`+revision+
		`","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	l.text(begin)
	header.Set("Mcp-Session-Id", begin.Header.Get("Mcp-Session-Id"))
	l.follow(l.send(http.MethodGet, ""))
	l.answer = l.subscribe(uri)
	return l
}

// send sends a request of the client.
func (l *watching) send(method, body string) *http.Response {
	l.t.Helper()
	req, err := http.NewRequestWithContext(l.ctx, method, l.server.URL+l.path, strings.NewReader(body))
	if err != nil {
		l.t.Fatal(err)
	}
	req.Header = l.header.Clone()
	resp, err := l.server.Client().Do(req)
	if err != nil {
		l.t.Fatal(err)
	}
	return resp
}

// text reads an answer.
func (l *watching) text(resp *http.Response) string {
	l.t.Helper()
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		l.t.Fatal(err)
	}
	return string(b)
}

// subscribe returns the answer to a legacy subscription.
func (l *watching) subscribe(uri string) string {
	l.t.Helper()
	return l.text(l.send(http.MethodPost, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":%q}}`, uri)))
}

// follow reads a stream to its end.
func (l *watching) follow(stream *http.Response) {
	l.t.Helper()
	if stream.StatusCode != http.StatusOK {
		l.t.Fatalf("stream = %d %s", stream.StatusCode, l.text(stream))
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { _ = stream.Body.Close() }()
		for lines := bufio.NewScanner(stream.Body); lines.Scan(); {
			data, ok := strings.CutPrefix(lines.Text(), "data: ")
			if !ok {
				continue
			}
			var message struct {
				Method string
				Params struct {
					URI           string
					Notifications struct{ ResourceSubscriptions []string }
				}
				Result json.RawMessage
			}
			if err := json.Unmarshal([]byte(data), &message); err != nil {
				message.Method = err.Error()
			}
			switch {
			case message.Result != nil:
				l.messages <- "result"
			case message.Method == "notifications/resources/updated":
				l.messages <- "updated " + message.Params.URI
			case message.Method == "notifications/subscriptions/acknowledged":
				l.messages <- fmt.Sprint("acknowledged ", message.Params.Notifications.ResourceSubscriptions)
			default:
				l.messages <- message.Method
			}
		}
		l.messages <- "end"
	}()
	l.t.Cleanup(func() { l.end(); timebox.Wait(l.t, done) })
}

func (l *watching) want(message string) {
	l.t.Helper()
	select {
	case got := <-l.messages:
		if got != message {
			l.t.Fatalf("got %q, want %q", got, message)
		}
	case <-time.After(20 * time.Second):
		l.t.Fatalf("no %q", message)
	}
}

const shelfDocument = `openapi: 3.1.0
info: {title: Shelf, version: "1"}
paths:
  /book: {get: {operationId: book, responses: {"200": {description: ok}}}}
  /other: {get: {operationId: other, responses: {"200": {description: ok}}}}
`

const shelfConfig = `apis: [{name: shelf, spec: $SPEC, base_url: $BASE}]
rules:
  - {match: {operation: book}, set: {resource: {uri: "shelf:book", poll: 10s}}}
  - {match: {operation: other}, set: {resource: {uri: "shelf:other", poll: 0s}}}
`

// TestWatch holds that clients of both eras are told of each change, once, however the service shows it, and that nobody
// looks when nobody wants to know.
func TestWatch(t *testing.T) {
	service := newChangingService(t)
	g := gatewaytest.Start(t, shelfDocument, shelfConfig, service.URL)
	l := newLooks(t, g)
	server := httptest.NewServer(g.Handler())
	defer server.Close()
	modern := watchOver(t, server, "/mcp", "2026-07-28", http.Header{}, "shelf:book")
	modern.want("acknowledged [shelf:book]")
	old := watchOver(t, server, "/mcp", "2025-11-25", http.Header{}, "shelf:book")
	if !strings.Contains(old.answer, `"result":{}`) {
		t.Fatal(old.answer)
	}
	if d := l.looked(); d < 9*time.Second || d > 11*time.Second {
		t.Errorf("the next look is in %s, want about 10 s", d)
	}
	if got := service.taken(); !slices.Equal(got, []string{""}) {
		t.Errorf("two clients: requests %q, want one", got)
	}
	updated := func() {
		t.Helper()
		modern.want("updated shelf:book")
		old.want("updated shelf:book")
	}
	l.again() // nothing has changed
	service.set(0, "two", "ETag", `"2"`)
	l.again()
	updated()
	service.taken()
	l.again()
	if got := service.taken(); !slices.Equal(got, []string{`"2"`}) {
		t.Errorf("the request was not conditional: %q", got)
	}
	service.set(0, "three", "Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT")
	l.again()
	updated()
	service.taken()
	l.again()
	if got := service.taken(); !slices.Equal(got, []string{"Sun, 06 Nov 1994 08:49:37 GMT"}) {
		t.Errorf("the request was not conditional: %q", got)
	}
	service.set(http.StatusNotFound, "no")
	l.again()
	updated()
	l.again()
	service.set(0, "four")
	l.again()
	updated()
	modern.end()
	old.end()
	modern.want("end")
	old.want("end")
	if err := g.EndStreams(t.Context()); err != nil { // which ends the legacy session
		t.Error(err)
	}
	g.Subscriptions().End()
	if n := g.Subscriptions().Count(); n != 0 {
		t.Errorf("%d resources are still watched", n)
	}
}

// TestWatchBackoff holds that a service that fails is asked less and less often, up to a bound, and a failure is no change.
func TestWatchBackoff(t *testing.T) {
	service := newChangingService(t)
	g := gatewaytest.Start(t, shelfDocument, shelfConfig, service.URL)
	l := newLooks(t, g)
	server := httptest.NewServer(g.Handler())
	defer server.Close()
	w := watchOver(t, server, "/mcp", "2026-07-28", http.Header{}, "shelf:book")
	w.want("acknowledged [shelf:book]")
	l.looked()
	service.set(http.StatusServiceUnavailable, "no")
	for _, factor := range []time.Duration{2, 4, 8, 16, 16} {
		if d := l.again(); d < factor*9*time.Second || d > factor*11*time.Second {
			t.Errorf("the next look is in %s, want about %s", d, factor*10*time.Second)
		}
	}
	service.set(0, "one")
	if d := l.again(); d > 11*time.Second {
		t.Errorf("after a good answer the next look is in %s", d)
	}
	service.set(0, "two")
	l.again()
	w.want("updated shelf:book")
	if err := g.EndStreams(t.Context()); err != nil {
		t.Error(err)
	}
	w.want("result")
	g.Subscriptions().End()
}

// TestWatchRefused holds what can't be watched, and how it is told.
func TestWatchRefused(t *testing.T) {
	service := newChangingService(t)
	g := gatewaytest.Start(t, shelfDocument, shelfConfig+"  - {match: {operation: book}, set: {confirm: true}}\n", service.URL)
	newLooks(t, g)
	server := httptest.NewServer(g.Handler())
	defer server.Close()
	for uri, want := range map[string]string{
		"shelf:nothing": `"code":-32002,"message":"resource not found: resources/list and resources/templates/list have those of this server"`,
		"shelf:other":   `"code":-32602,"message":"changes of this resource are not told: it is not looked at"`,
		"shelf:book":    `"code":-32602,"message":"changes of this resource are not told: each read needs the user's consent"`,
	} {
		watchOver(t, server, "/mcp", "2026-07-28", http.Header{}, uri).want("acknowledged []")
		if w := watchOver(t, server, "/mcp", "2025-06-18", http.Header{}, uri); !strings.Contains(w.answer, want) {
			t.Errorf("%s: %s", uri, w.answer)
		}
	}
	if asked := service.taken(); len(asked) > 0 {
		t.Errorf("requests were sent: %q", asked)
	}
	if err := g.EndStreams(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestWatchesOfCallers holds that callers whom the service tells apart have watches of their own, and that each is told of
// what its own has found.
func TestWatchesOfCallers(t *testing.T) {
	i, service := gatewaytest.NewIDP(t), newChangingService(t)
	cfg := fmt.Sprintf(gatewaytest.ProtectedConfig, gatewaytest.Issuers(i)) + `  - {match: {operation: book}, set: {resource: {uri: "shelf:book", poll: 10s}}}
`
	personal := strings.Replace(cfg, "base_url: $BASE,", "base_url: $BASE, pass_headers: [X-Who],", 1)
	for _, tt := range []struct {
		cfg      string
		requests int
	}{{cfg, 1}, {personal, 2}} {
		g := gatewaytest.Start(t, shelfDocument, tt.cfg, service.URL)
		l := newLooks(t, g)
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			r.Host = "mcp.example.com"
			g.Handler().ServeHTTP(w, r)
		}))
		var clients []*watching
		for _, who := range []string{"ada", "bob"} {
			w := watchOver(t, server, "/mcp", "2026-07-28", http.Header{
				"Authorization": {"Bearer " + i.Token(t, map[string]any{"sub": who})}, "X-Who": {who},
			}, "shelf:book")
			w.want("acknowledged [shelf:book]")
			clients = append(clients, w)
		}
		for range tt.requests {
			l.looked()
		}
		asked := service.taken()
		slices.Sort(asked)
		want := []string{""}
		if tt.requests == 2 {
			want = []string{"ada", "bob"}
		}
		if !slices.Equal(asked, want) {
			t.Errorf("requests of %q, want %q", asked, want)
		}
		service.set(0, "two")
		l.again() // of one of them
		if tt.requests == 1 {
			clients[0].want("updated shelf:book")
			clients[1].want("updated shelf:book")
		} else {
			other := clients[1]
			select {
			case got := <-clients[0].messages:
				if got != "updated shelf:book" {
					t.Errorf("got %q", got)
				}
			case got := <-clients[1].messages:
				if other = clients[0]; got != "updated shelf:book" {
					t.Errorf("got %q", got)
				}
			case <-time.After(time.Minute):
				t.Fatal("neither client is told")
			}
			defer other.want("result")
		}
		service.set(0, "one")
		if err := g.EndStreams(t.Context()); err != nil {
			t.Error(err)
		}
		g.Subscriptions().End()
		server.Close()
		service.taken()
	}
}

// TestWatchOverGenerations holds that a watch goes on with what is served now: with the resource, and with its rules.
func TestWatchOverGenerations(t *testing.T) {
	service := newChangingService(t)
	cfg := func(rest string) string {
		return strings.NewReplacer("$SPEC", "a.yaml", "$BASE", service.URL).Replace("apis: [{name: shelf, spec: $SPEC, base_url: $BASE}]\n" + rest)
	}
	const rule = `rules: [{match: {operation: book}, set: {resource: {uri: "shelf:book", poll: 10s}}}]` + "\n"
	var log bytes.Buffer
	r := gatewaytest.RunWith(t, map[string]string{"drawbridge.yaml": cfg(rule), "a.yaml": shelfDocument}, gateway.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	r.Served()
	l := newLooks(t, r.Gateway)
	server := httptest.NewServer(r.Handler())
	defer server.Close()
	w := watchOver(t, server, "/mcp", "2026-07-28", http.Header{}, "shelf:book")
	w.want("acknowledged [shelf:book]")
	l.looked()
	reload := func(rest string) {
		t.Helper()
		r.Write(map[string]string{"drawbridge.yaml": cfg(rest)})
		if err := r.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	reload("")
	service.taken()
	service.set(0, "two")
	l.again()
	if asked := service.taken(); len(asked) > 0 {
		t.Errorf("a resource that is gone was asked for: %q", asked)
	}
	reload(strings.Replace(rule, "10s", "1m", 1))
	if d := l.again(); d < 50*time.Second {
		t.Errorf("the next look is in %s, want about a minute", d)
	}
	w.want("updated shelf:book") // it was "one" when it went
	service.set(0, "three")
	l.again()
	w.want("updated shelf:book")
	if err := r.EndStreams(t.Context()); err != nil {
		t.Error(err)
	}
	w.want("result")
}
