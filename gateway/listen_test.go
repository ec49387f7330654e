package gateway

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"drawbridge/gateway/endpoint"
	"drawbridge/gateway/listener"
)

// attachedServer serves a gateway on a listener in a bubble, to which connections come when dial is called. stop ends it.
func attachedServer(t *testing.T, g *Gateway) (dial func() net.Conn, stop func()) {
	t.Helper()
	inner := &accepted{conns: make(chan net.Conn, 1)}
	l := g.Listener(inner)
	s := &http.Server{Handler: g.Handler(), ReadHeaderTimeout: 5 * time.Second, IdleTimeout: time.Minute}
	l.Attach(s)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = s.Serve(l) // which says that the test has ended it
	}()
	dial = func() net.Conn {
		ours, theirs := net.Pipe()
		inner.conns <- remote{Conn: ours, address: "127.0.0.1:1"}
		return theirs
	}
	return dial, func() {
		close(inner.conns)
		_ = s.Close()
		<-ended
	}
}

// TestSlowBody is H7: a body that stands still, or that comes a byte now and then, has an answer that says so, and its connection ends.
func TestSlowBody(t *testing.T) {
	g := start(t, document("Shop", "list"), "auth: {anonymous: true}\napis: [{name: shop, spec: $SPEC}]\n", "")
	for name, framing := range map[string]string{"a length": "Content-Length: 100\r\n\r\n{", "chunks": "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n"} {
		for _, drips := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, drips %t", name, drips), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					dial, stop := attachedServer(t, g)
					client := dial()
					begin := time.Now()
					_, _ = io.WriteString(client, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"+framing)
					go func() {
						piece := "b"
						if strings.HasPrefix(framing, "T") {
							piece = "1\r\nb\r\n"
						}
						for drips {
							time.Sleep(4 * time.Second)
							if _, err := io.WriteString(client, piece); err != nil {
								return
							}
						}
					}()
					got, _ := io.ReadAll(client)
					least := listener.BodyStall
					if drips {
						least = 30 * time.Second
					}
					if took := time.Since(begin); took < least || took > least+time.Second { // in which net/http closes
						t.Errorf("answered after %v", took)
					}
					for _, part := range []string{"HTTP/1.1 408 Request Timeout\r\n", "\r\nConnection: close\r\n", "the body did not arrive in time"} {
						if !strings.Contains(string(got), part) {
							t.Errorf("no %q in %s", part, got)
						}
					}
					_ = client.Close()
					time.Sleep(5 * time.Second) // who drips
					stop()
				})
			})
		}
	}
	if got := metricLines(g, `drawbridge_connections_given_up_total{waited_for="body"} 4`); len(got) != 1 {
		t.Errorf("counted %q", metricLines(g, "drawbridge_connections_given_up_total"))
	}
}

// TestLineEndBetweenRequests: an empty line behind a request, as old clients send, belongs to none (RFC 9112 section 2.2): the next request on the connection
// is served.
func TestLineEndBetweenRequests(t *testing.T) {
	g := start(t, document("Shop", "list"), "auth: {anonymous: true}\napis: [{name: shop, spec: $SPEC}]\n", "")
	const body = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
	request := fmt.Sprintf(listRequest, len(body), "", body)
	synctest.Test(t, func(t *testing.T) {
		dial, stop := attachedServer(t, g)
		client := dial()
		go func() { _, _ = io.WriteString(client, request+"\r\n"+request) }()
		for r, n := bufio.NewReader(client), 0; n < 2; n++ {
			if got := wholeList(t, r); !strings.Contains(got, `"list"`) {
				t.Errorf("answer %d: %s", n, got)
			}
		}
		_ = client.Close()
		stop()
	})
}

// TestPanicOfHandler: a panic costs the connection of its request, and is counted.
func TestPanicOfHandler(t *testing.T) {
	g := start(t, document("Shop", "list"), "auth: {anonymous: true}\napis: [{name: shop, spec: $SPEC}]\n", "")
	g.public = endpoint.RecoverPanic(g.recovery.Report)(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/panic" {
			panic("so")
		}
		panic(http.ErrAbortHandler) // which is none
	}))
	synctest.Test(t, func(t *testing.T) {
		dial, stop := attachedServer(t, g)
		for _, path := range []string{"/panic", "/abort"} {
			client := dial()
			_, _ = io.WriteString(client, "GET "+path+" HTTP/1.1\r\nHost: x\r\n\r\n")
			if got, err := io.ReadAll(client); err != nil || len(got) > 0 {
				t.Errorf("%s: %q, %v", path, got, err)
			}
			_ = client.Close()
		}
		stop()
	})
	if got := metricLines(g, "drawbridge_panics_total 1"); len(got) != 1 {
		t.Errorf("counted %q", metricLines(g, "drawbridge_panics_total"))
	}
}
