package e2e

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"drawbridge/test/process"
	"drawbridge/test/timebox"
)

// TestCertificateReplaced replaces the gateway's own certificate under 200 official clients that call all the time, half
// of them by HTTP/2, and under a stream whose call is still running. No call fails, and the next connection meets the new
// certificate (O11).
func TestCertificateReplaced(t *testing.T) {
	program := process.BuildGateway(t)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	service, ca, dir, listen := newThings(t), newAuthority(t), t.TempDir(), address(t)
	certFile, keyFile := ca.issue(t, dir, 100)
	gateway, _ := service.serve(ctx, t, program, listen, fmt.Sprintf("shutdown_delay: 0s, tls: {cert_file: %q, key_file: %q}", certFile, keyFile))
	endpoint := "https://" + listen + "/mcp" // also the resource identifier: public_url is not given
	token := service.token(t, endpoint)

	transports := make([]*http.Transport, 8)
	for i := range transports {
		transports[i] = &http.Transport{TLSClientConfig: ca.trust(), ForceAttemptHTTP2: i%2 == 0, MaxIdleConnsPerHost: 50}
		defer transports[i].CloseIdleConnections()
	}
	stream := openStream(ctx, t, transports[0], endpoint, token)
	timebox.Wait(t, service.arrived)

	const clients = 200
	sessions := make([]*mcp.ClientSession, clients)
	for c := range sessions {
		sessions[c] = connect(ctx, t, endpoint, []string{"2025-11-25", "2026-07-28"}[c/2%2], bearer{token, transports[c%len(transports)]})
	}
	var calls, after atomic.Int64
	var replaced atomic.Bool
	warm, done := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	for c, session := range sessions {
		wg.Go(func() {
			for n := 0; ; n++ {
				seen := replaced.Load()
				if err := getThing(ctx, session, fmt.Sprintf("%d-%d", c, n)); err != nil {
					t.Errorf("client %d, call %d, after the replacement %v: %v", c, n, seen, err)
					return
				}
				if calls.Add(1) == 5*clients {
					close(warm)
				}
				if seen {
					if after.Add(1) == 5*clients {
						close(done)
					}
				}
				select {
				case <-done:
					return
				case <-ctx.Done():
					t.Errorf("client %d: %v", c, ctx.Err())
					return
				default:
				}
			}
		})
	}
	select {
	case <-warm:
	case <-ctx.Done():
		t.Fatalf("only %d calls", calls.Load())
	}
	ca.issue(t, dir, 200)
	if err := gateway.Await(ctx, func(context.Context) error {
		if serial := serialAt(t, listen, ca.trust()); serial != "200" {
			return errors.New("new connections meet certificate " + serial)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	replaced.Store(true)
	timebox.Done(t, wg.Wait)
	close(service.release)
	if event := timebox.Receive(t, stream); !strings.Contains(event, `{\"id\":\"held\"}`) || !strings.HasPrefix(event, "data: ") {
		t.Errorf("the stream ended with %q", event)
	}
	t.Logf("%d calls of %d clients, %d of them after the replacement", calls.Load(), clients, after.Load())
}

// serialAt makes a connection and returns the serial number of the certificate that it meets.
func serialAt(t *testing.T, listen string, c *tls.Config) string {
	t.Helper()
	conn, err := tls.Dial("tcp", listen, c)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	return conn.ConnectionState().PeerCertificates[0].SerialNumber.String()
}

// openStream calls the held thing and wants its answer as a stream of events. The channel gets its data, or what went wrong.
func openStream(ctx context.Context, t *testing.T, transport http.RoundTripper, endpoint, token string) <-chan string {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint, strings.NewReader(
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"getThing","arguments":{"id":"held"},`+
			`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"Authorization": "Bearer " + token, "Content-Type": "application/json", "Accept": "text/event-stream",
		"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "getThing",
	} {
		r.Header.Set(name, value)
	}
	out := make(chan string, 1)
	go func() {
		resp, err := transport.RoundTrip(r)
		if err != nil {
			out <- err.Error()
			return
		}
		defer resp.Body.Close()
		for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
			if strings.HasPrefix(lines.Text(), "data: ") {
				out <- lines.Text()
				return
			}
		}
		out <- resp.Status + " without an event"
	}()
	return out
}
