package gateway

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"drawbridge/gateway/audit"
	"drawbridge/gateway/telemetry"
)

// withAudit gives a gateway an audit log. What it returns ends that, and tells its lines in short, sorted; each must fit what docs say of it.
func withAudit(t *testing.T, g *Gateway) (told func() []string) {
	t.Helper()
	schema, err := jsonschema.NewCompiler().Compile("../docs/audit.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	out := &sink{}
	// With fields, which only lines of calls have.
	log, err := audit.New(audit.Options{Output: out, Subject: audit.PlainSubject, Fields: []string{"/id"}})
	if err != nil {
		t.Fatal(err)
	}
	setAudit(g, log)
	return func() (all []string) {
		t.Helper()
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if err := g.calls.Audit.Run(ended); err != nil {
			t.Error(err)
		}
		for line := range strings.Lines(out.String()) {
			v, err := jsonschema.UnmarshalJSON(strings.NewReader(line))
			if err != nil {
				t.Fatalf("%v: %s", err, line)
			}
			if err := schema.Validate(v); err != nil {
				t.Errorf("%v: %s", err, line)
			}
			m := v.(map[string]any)
			short := fmt.Sprint(m["decision"], " ", m["outcome"])
			for _, name := range []string{"answered", "rpc", "subject", "address", "tool", "more"} {
				if m[name] != nil {
					short += fmt.Sprintf(" %s=%v", name, m[name])
				}
			}
			all = append(all, short)
		}
		slices.Sort(all)
		return all
	}
}

func hold(t *testing.T, got []string, want ...string) {
	t.Helper()
	if slices.Sort(want); !slices.Equal(got, want) {
		t.Errorf("told\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestConnectionsAreAccounted: connections that are closed because too many are open have a line, those of one address with it; what follows is counted
// in one, and of those that are too many in all no address is told, so that they can't push out the addresses of others.
func TestConnectionsAreAccounted(t *testing.T) {
	g := start(t, document("Shop", "list"), "server: {trusted_proxies: [10.0.0.1]}\nauth: {anonymous: true}\napis: [{name: shop, spec: $SPEC}]\n"+
		"limits: {max_connections: 4, max_connections_per_address: 2}\n", "")
	told := withAudit(t, g)
	inner := &accepted{conns: make(chan net.Conn, 1000)}
	l := g.Listener(inner)
	come := func(address string) {
		server, _ := net.Pipe()
		inner.conns <- remote{Conn: server, address: address}
	}
	for range 5 {
		come("192.0.2.1:1") // two are let in
	}
	come("[2001:db8::1]:1")
	come("[2001:db8::2]:1")
	come("[2001:db8::3]:1") // of one network, which has two
	come("10.0.0.1:1")
	for n := range 200 {
		come(fmt.Sprintf("198.51.100.%d:1", n))
	}
	inner.conns <- nil
	var open []net.Conn
	for {
		conn, err := l.Accept()
		if err != nil {
			break
		}
		open = append(open, conn)
	}
	if len(open) != 4 {
		t.Errorf("%d are open", len(open))
	}
	for _, c := range open {
		_ = c.Close()
	}
	hold(t, told(),
		"refused address_connections address=192.0.2.1", "refused address_connections address=192.0.2.1 more=2",
		"refused address_connections address=2001:db8::3",
		"refused connections", "refused connections more=200")
}

// TestStreamsAreAccounted: a stream, and a subscription, that is one too many at all endpoints together has a line that names who
// wanted it, in every era.
func TestStreamsAreAccounted(t *testing.T) {
	for _, tt := range []struct {
		limits string
		path   string // of the open stream
		others bool   // somebody else has it
		status int
		word   string
	}{
		{"max_streams: 1", "/mcp", true, http.StatusServiceUnavailable, "streams"},
		{"max_streams_per_caller: 1", "/mcp", false, http.StatusTooManyRequests, "caller_streams"},
		{"max_streams: 1", "/mcp/part", true, http.StatusServiceUnavailable, "streams"},
		{"max_streams_per_caller: 1", "/mcp/part", false, http.StatusTooManyRequests, "caller_streams"},
	} {
		t.Run(tt.word+" "+tt.path, func(t *testing.T) {
			i := newIDP(t)
			g := start(t, document("Shop", "list"), fmt.Sprintf(`
server: {public_url: %s, old_transport: true}
auth: {issuers: [%s], default_scopes: [mcp:tools]}
apis: [{name: shop, spec: $SPEC, base_url: "http://127.0.0.1:1"}]
rules: [{match: {operation: list}, set: {resource: {uri: "shop://list", poll: 1h}}}]
endpoints: [{name: part, match: {operation: list}}]
limits: {%s}
`, publicURL, issuers(i), tt.limits), "")
			told := withAudit(t, g)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				r.Host = "mcp.example.com"
				g.Handler().ServeHTTP(w, r)
			}))
			defer server.Close()
			defer func() {
				if err := g.EndStreams(t.Context()); err != nil {
					t.Error(err)
				}
			}()
			aud := []string{publicURL + "/mcp", publicURL + "/mcp/part"}
			alice := i.token(t, map[string]any{"aud": aud})
			holder := alice
			if tt.others {
				holder = i.token(t, map[string]any{"sub": "bob", "aud": aud})
			}
			waits := watchOver(t, server, tt.path, "2025-11-25", http.Header{"Authorization": {"Bearer " + holder}}, "shop://list")
			waits.end() // its session has a subscription, and no stream
			waits.want("end")
			for g.mcpHandlers.Streams() > 0 {
				time.Sleep(time.Millisecond)
			}
			listen(t, server, tt.path, "2025-11-25", holder)
			want := func(name string, status int, body io.Reader) {
				t.Helper()
				if text, _ := io.ReadAll(body); status != tt.status || !strings.Contains(string(text), "too many") {
					t.Errorf("%s: %d %s", name, status, text)
				}
			}
			send := func(name, method, path, body string, header http.Header) {
				t.Helper()
				r := httptest.NewRequest(method, publicURL+path, strings.NewReader(body))
				header.Set("Authorization", "Bearer "+alice)
				r.Header, r.RemoteAddr = header, "192.0.2.1:1"
				w := httptest.NewRecorder()
				g.Handler().ServeHTTP(w, r)
				want(name, w.Code, w.Body)
			}
			send("listen", http.MethodPost, "/mcp", listenBody, http.Header{"Content-Type": {"application/json"}, "Accept": {"text/event-stream"},
				"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"subscriptions/listen"}})
			legacy := newClient(t, g.Handler(), "2025-11-25", alice)
			legacy.send("ping", "", "")
			session := func() http.Header {
				return http.Header{"Mcp-Protocol-Version": {"2025-11-25"}, "Mcp-Session-Id": {legacy.session}, "Accept": {"application/json, text/event-stream"}}
			}
			send("GET", http.MethodGet, "/mcp", "", session())
			send("GET again", http.MethodGet, "/mcp", "", session())
			send("old transport", http.MethodGet, "/sse", "", http.Header{"Accept": {"text/event-stream"}})
			header := session()
			header.Set("Content-Type", "application/json")
			send("subscribe", http.MethodPost, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"shop://list"}}`, header)
			because := telemetry.RefusedStreams
			if !tt.others {
				because = telemetry.RefusedCallerStreams
			}
			if n := counted(t, g.metrics.Refused[because]); n != 5 {
				t.Errorf("%v refusals counted", n)
			}
			first := fmt.Sprintf("refused %s answered=%d", tt.word, tt.status)
			who := " subject=alice address=192.0.2.1"
			lines := slices.DeleteFunc(told(), func(line string) bool { return strings.Contains(line, " rpc=watch") }) // which come when they do
			hold(t, lines, first+" rpc=subscriptions/listen"+who, first+who+" more=4")
		})
	}
}

// TestShedIsAccounted: who is refused because too many calls run, or memory is short, has a line, whatever he wanted.
func TestShedIsAccounted(t *testing.T) {
	for _, tt := range []struct {
		name string
		full func(g *Gateway)
		send func(t *testing.T, g *Gateway) int
		want []string
	}{
		{"a named call beyond max_calls", tooManyCalls, callOf("2026-07-28"), []string{"refused overload answered=503 address=127.0.0.1"}},
		{"a call beyond max_calls", tooManyCalls, callOf("2025-11-25"), []string{"refused limited rpc=tools/call tool=list"}},
		{"a named call without memory", noMemory, callOf("2026-07-28"), []string{"refused memory answered=503 address=127.0.0.1"}},
		{"a call without memory", noMemory, callOf("2025-11-25"), []string{"refused limited rpc=tools/call tool=list"}},
		{"a stream without memory", noMemory, func(_ *testing.T, g *Gateway) int {
			return post(g.Handler(), http.Header{"Content-Type": {"application/json"}, "Accept": {"text/event-stream"},
				"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"subscriptions/listen"}}, listenBody).Code
		}, []string{"refused memory answered=503 address=127.0.0.1"}},
		{"a large body without memory", noMemory, func(_ *testing.T, g *Gateway) int {
			return post(g.Handler(), http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}},
				`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"`+strings.Repeat("x", 100<<10)+`"}}`).Code
		}, []string{"refused memory answered=503 address=127.0.0.1"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := start(t, document("Shop", "list"), "apis: [{name: shop, spec: $SPEC, base_url: $BASE}]\nlimits: {max_calls: 1}\n", "http://127.0.0.1:1")
			told := withAudit(t, g)
			tt.full(g)
			if code := tt.send(t, g); code != http.StatusServiceUnavailable {
				t.Errorf("answered with %d", code)
			}
			hold(t, told(), tt.want...)
			sum := 0.0
			for _, n := range g.metrics.Refused {
				sum += counted(t, n)
			}
			if sum != 1 {
				t.Errorf("%v refusals counted", sum)
			}
		})
	}
}

func tooManyCalls(g *Gateway) { g.admission.overload.Admit(1) }

func noMemory(g *Gateway) {
	g.admission.overload.PinMemory(true)
}

func callOf(revision string) func(*testing.T, *Gateway) int {
	return func(t *testing.T, g *Gateway) int { return newClient(t, g.Handler(), revision, "").call("list").Code }
}
