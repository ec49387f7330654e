package mcp_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"drawbridge/gateway/mcp"
)

// streamRequests are those that open a stream of changes, one of each kind; {{session}} stands for a session of alice's.
var streamRequests = map[string]string{
	"modern": agedModern + "X-Principal: alice\nMcp-Method: subscriptions/listen\n\n" +
		`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true,"resourceSubscriptions":["test://a"]},` + modernMeta + `}}`,
	"legacy": "GET /mcp HTTP/1.1\n" + agedLegacy + "X-Principal: alice\nMcp-Session-Id: {{session}}\n\n",
	"old":    "GET /sse HTTP/1.1\n" + agedLegacy + "X-Principal: alice\n\n",
}

// TestPanicBeforeAStream: a request that panics before its stream is one, wherever it does so, gives back all the places that it had:
// that of the stream, and that of its session.
func TestPanicBeforeAStream(t *testing.T) {
	t.Parallel()
	for kind, raw := range streamRequests {
		for _, place := range []string{"view", "until", "first write"} {
			t.Run(kind+", "+place, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					armed := false
					fail := func(at string) {
						if armed && at == place {
							panic("injected")
						}
					}
					w := newWhole(mcp.BrokerOptions{})
					w.broker = mcp.NewBroker(mcp.BrokerOptions{
						MaxPerPrincipal: 1,
						ListVersion:     func(context.Context, mcp.Subscriber, mcp.List) string { fail("view"); return "" },
						AuthorizedUntil: func(context.Context) time.Time { fail("until"); return time.Time{} },
						SubscribeResource: func(_ context.Context, s mcp.Subscription) (func(), error) {
							w.count(s.URI, 1)
							return func() { w.count(s.URI, -1) }, nil
						},
					})
					methods, options := wholeServer(w, mcp.Options{ReloadableOptions: mcp.ReloadableOptions{KeepAlive: time.Minute}})
					wrap := func(h http.Handler) http.Handler {
						return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
							defer func() {
								if v := recover(); v != nil && v != any(http.ErrAbortHandler) && v != any("injected") {
									t.Errorf("panic %v", v)
								}
							}()
							h.ServeHTTP(failingWriter{rw, func() { fail("first write") }}, r)
						})
					}
					d := &dialogue{
						t: t, whole: w, open: map[string]*talk{}, values: map[string]string{},
						handler: wrap(newEndpoint(t, methods, options)), old: wrap(newOld(t, methods, options)),
					}
					defer d.end()
					for round := range 3 {
						d.ask("init", "POST /mcp HTTP/1.1\n"+agedLegacy+"X-Principal: alice\n\n"+agedInit)
						request := strings.ReplaceAll(raw, "{{session}}", d.open["init"].header.Get("Mcp-Session-Id"))
						armed = true
						d.ask("bad", request)
						armed = false
						if n := w.broker.Streams(); n != 0 || !d.open["bad"].ended() {
							t.Fatalf("round %d: %d streams, ended %t", round, n, d.open["bad"].ended())
						}
						d.ask("good", request)
						if n := w.broker.Streams(); n != 1 {
							t.Fatalf("round %d: %d streams, %s", round, n, d.got(d.open["good"]))
						}
						d.open["good"].leave()
						synctest.Wait()
					}
				})
			})
		}
	}
}

// failingWriter is a writer of an answer of which writing may panic.
type failingWriter struct {
	http.ResponseWriter
	fail func()
}

func (w failingWriter) Write(b []byte) (int, error) { w.fail(); return w.ResponseWriter.Write(b) }
func (w failingWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w failingWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return http.NewResponseController(w.ResponseWriter).Hijack()
}

// TestPanicBeforeATakenStream is the same for a stream whose connection was to be hijacked: its client sees that it
// broke off.
func TestPanicBeforeATakenStream(t *testing.T) {
	w := newWhole(mcp.BrokerOptions{})
	var armed atomic.Bool
	var told atomic.Pointer[mcp.Event]
	h := parked(t, mcp.Options{Broker: w.broker, Observe: func(_ *mcp.Request, e mcp.Event, _ *mcp.Called) { told.Store(&e) }})
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(failingWriter{rw, func() {
			if armed.CompareAndSwap(true, false) {
				panic("injected")
			}
		}}, r)
	}))
	defer server.Close()
	armed.Store(true)
	r := newRequest(t, "mcp.example", `{"jsonrpc":"2.0","id":"a","method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},`+modernMeta+`}}`,
		"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "subscriptions/listen")
	r.RequestURI, r.URL.Scheme, r.URL.Host = "", "http", server.Listener.Addr().String()
	resp, err := server.Client().Do(r)
	if err == nil {
		defer resp.Body.Close()
		_, err = io.ReadAll(resp.Body)
	}
	if err == nil {
		t.Error("the stream ends as if all were well")
	}
	w.gone(t, 0)
	if e := told.Load(); e == nil || !e.Panicked || e.Code != mcp.CodeInternal {
		t.Errorf("told of %+v", e)
	}
	good := openListen(t, server.Listener.Addr().String(), "good")
	defer good.Close()
	if err := w.broker.Drain(t.Context()); err != nil {
		t.Error(err)
	}
}
