package gateway_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"runtime"
	"strings"
	"testing"
	"time"

	"drawbridge/gateway"
	"drawbridge/test/faultnet"
	"drawbridge/test/gatewaytest"
	"drawbridge/test/race"
	"drawbridge/test/timebox"
)

// longList is a gateway whose list of tools has some 700 KB, served on a socket in clear as the program does.
func longList(t *testing.T) (g *gateway.Gateway, addr string) {
	t.Helper()
	var operations strings.Builder
	for n := range 1500 {
		fmt.Fprintf(&operations, "  /more/%d: {get: {operationId: more%d, summary: %q, responses: {'200': {description: ok}}}}\n", n, n, strings.Repeat("Much is said of it. ", 10))
	}
	g = gatewaytest.Start(t, gatewaytest.Document("Shop")+operations.String(), listAll, "http://127.0.0.1:1")
	l, err := g.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: g.Handler(), ReadHeaderTimeout: time.Minute, IdleTimeout: time.Minute}
	l.Attach(server)
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_ = server.Close()
		_ = g.EndAnswers(ctx)
		if err := timebox.Receive(t, ended); !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	return g, l.Addr().String()
}

func askForList(t testing.TB, conn net.Conn, header string) {
	t.Helper()
	const body = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"a","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`
	if _, err := fmt.Fprintf(conn, gatewaytest.ListRequest, len(body), header, body); err != nil {
		t.Fatal(err)
	}
}

// slowReader asks for the list and reads nothing.
func slowReader(t testing.TB, addr, header string) net.Conn {
	t.Helper()
	d := net.Dialer{Control: faultnet.Narrow}
	conn, err := d.DialContext(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	askForList(t, conn, header)
	return conn
}

// slow waits until so many clients are slow.
func slow(t testing.TB, g *gateway.Gateway, n int) {
	t.Helper()
	for start := time.Now(); g.MCPHandlers().Readers.Count() != n; time.Sleep(time.Millisecond) {
		if time.Since(start) > 20*time.Second {
			t.Fatalf("%d clients are slow, want %d", g.MCPHandlers().Readers.Count(), n)
		}
	}
}

// TestSlowReaderAsksAgain: a client that was slow is served on the same connection, also what it has sent in the meantime, unless it wanted it closed. That takes no place
// from others, and is the client's own.
func TestSlowReaderAsksAgain(t *testing.T) {
	g, addr := longList(t)
	conn := slowReader(t, addr, "X-Request: 1\r\n")
	defer conn.Close()
	slow(t, g, 1)
	askForList(t, conn, "") // before it has read anything
	askForList(t, conn, "X-Long: "+strings.Repeat("a", 16<<10)+"\r\n")
	r := bufio.NewReader(conn)
	first := gatewaytest.WholeList(t, r)
	for range 2 {
		if again := gatewaytest.WholeList(t, r); again != first {
			t.Errorf("%.200s, and then %.200s", first, again)
		}
	}
	slow(t, g, 0)
	askForList(t, conn, "Connection: close\r\n")
	slow(t, g, 1)
	if last := gatewaytest.WholeList(t, r); last != first {
		t.Errorf("%.200s, and then %.200s", first, last)
	}
	if rest, err := io.ReadAll(r); err != nil || len(rest) > 0 {
		t.Errorf("%q, %v behind the answer", rest, err)
	}
	slow(t, g, 0)
	for start := time.Now(); ; time.Sleep(time.Millisecond) { // the last is closed a moment after its client hears of it
		if _, open := g.Connections().Held(netip.Prefix{}); open == 0 {
			break
		} else if time.Since(start) > 20*time.Second {
			t.Fatalf("%d connections are open", open)
		}
	}
}

// TestDrainWithSlowReaders: an answer that is read slowly is waited for, and its connection is not used again.
func TestDrainWithSlowReaders(t *testing.T) {
	g, addr := longList(t)
	conn := slowReader(t, addr, "")
	defer conn.Close()
	slow(t, g, 1)
	ended := make(chan error, 1)
	go func() { ended <- g.EndAnswers(t.Context()) }()
	r := bufio.NewReader(conn)
	gatewaytest.WholeList(t, r)
	if err := timebox.Receive(t, ended); err != nil {
		t.Error(err)
	}
	if rest, err := io.ReadAll(r); err != nil || len(rest) > 0 {
		t.Errorf("%q, %v behind the answer", rest, err)
	}
}

// TestSlowReaderMemory is H7: an answer that its client does not read costs at most 12 KiB, the client's side of it in this process included.
func TestSlowReaderMemory(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector takes memory of its own")
	}
	const readers, limit = 500, 12 << 10
	g, addr := longList(t)
	used := func() int64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc + m.StackInuse)
	}
	first, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	askForList(t, first, "Connection: close\r\n") // all is made that lists need
	if _, err := io.Copy(io.Discard, bufio.NewReader(first)); err != nil {
		t.Fatal(err)
	}
	first.Close()
	before := used()
	for range readers {
		defer slowReader(t, addr, "").Close()
	}
	slow(t, g, readers)
	// Goroutines of net/http may still be on their way out.
	each := int64(limit + 1)
	for tries := 0; each > limit && tries < 100; tries++ {
		each = (used() - before) / readers
	}
	t.Logf("%d bytes for each", each)
	if each > limit {
		t.Errorf("%d bytes for each answer that is not read, want at most %d", each, limit)
	}
}
