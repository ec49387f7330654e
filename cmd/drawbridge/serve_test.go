package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"drawbridge/test/timebox"
)

const adminToken = "reload-token-of-the-test"

const servedDocument = `openapi: 3.1.0
info: {title: Things, version: '1'}
paths:
  /things/{id}:
    get:
      operationId: getThing
      parameters: [{name: id, in: path, required: true, schema: {type: string}}]
      responses: {'200': {description: ok, content: {application/json: {schema: {type: object}}}}}
`

// served is "drawbridge serve" running inside the test.
type served struct {
	t          *testing.T
	dir        string
	mcp, admin string // URLs
	signals    chan os.Signal
	log        *logBuffer
	exit       chan int
}

// serve runs the program with drawbridge.yaml of files, which is completed with free ports, until it has said where
// it listens. It is ended with the test if nothing else has ended it.
func serve(t *testing.T, files map[string]string) *served {
	t.Helper()
	s := &served{t: t, dir: t.TempDir(), signals: make(chan os.Signal, 4), log: newLogBuffer(), exit: make(chan int, 1)}
	s.write(files)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.exit <- run(ctx, []string{"serve", "--config", filepath.Join(s.dir, "drawbridge.yaml")}, func(string) string { return "" },
			io.Discard, s.log, s.signals)
	}()
	t.Cleanup(func() {
		cancel()
		timebox.Wait(t, ended)
		if t.Failed() {
			t.Logf("log:\n%s", s.log)
		}
	})
	line := s.await("listening", 1)
	s.mcp, s.admin = line["mcp"].(string), line["admin"].(string)
	return s
}

// write writes files beside their places and moves them there, as editors do: nobody reads half a file.
func (s *served) write(files map[string]string) {
	s.t.Helper()
	for name, text := range files {
		path := filepath.Join(s.dir, name)
		if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
			s.t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			s.t.Fatal(err)
		}
	}
}

// await returns the n-th log record with the message. A minute is for the slowest machine.
func (s *served) await(message string, n int) map[string]any {
	s.t.Helper()
	line, ok := s.log.await(message, n, time.Minute)
	if !ok {
		s.t.Fatalf("no record %q in the log:\n%s", message, s.log)
	}
	return line
}

// never demands that there is no record with the message.
func (s *served) never(message string) {
	s.t.Helper()
	if found, _ := s.log.records(message); len(found) > 0 {
		s.t.Errorf("log record %v", found[0])
	}
}

// exited returns the exit code.
func (s *served) exited() int {
	s.t.Helper()
	select {
	case code := <-s.exit:
		return code
	case <-time.After(time.Minute):
		s.t.Fatalf("the program does not end; log:\n%s", s.log)
		return -1
	}
}

// tools returns the names that tools/list gives.
func (s *served) tools() []string {
	s.t.Helper()
	transport := &http.Transport{DisableKeepAlives: true}
	_, body, err := rpc(s.t.Context(), transport, s.mcp, "tools/list", "", "")
	if err != nil {
		s.t.Fatal(err)
	}
	var answer struct {
		Result struct{ Tools []struct{ Name string } }
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		s.t.Fatalf("%v: %s", err, body)
	}
	var names []string
	for _, tool := range answer.Result.Tools {
		names = append(names, tool.Name)
	}
	return names
}

// rpc sends one request of the newest revision; the error is the connection's.
func rpc(ctx context.Context, transport *http.Transport, url, method, tool, arguments string) (status int, body []byte, err error) {
	params := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	if tool != "" {
		params += fmt.Sprintf(`,"name":%q,"arguments":%s`, tool, arguments)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url,
		strings.NewReader(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s}}`, method, params)))
	if err != nil {
		return 0, nil, err
	}
	if !transport.ForceAttemptHTTP2 && transport.Protocols == nil {
		// net/http must not repeat a request by itself: that would hide a lost call. In HTTP/2 it may: a server that goes away
		// says which requests it has not looked at (RFC 9113 section 6.8).
		r.GetBody = nil
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2026-07-28",
		"Mcp-Method": method, "Mcp-Name": tool,
	} {
		if value != "" {
			r.Header.Set(name, value)
		}
	}
	resp, err := transport.RoundTrip(r)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	body, err = io.ReadAll(resp.Body)
	return resp.StatusCode, body, err
}

// getThing calls the tool and tells what is wrong with the answer; the error is the connection's.
func getThing(ctx context.Context, transport *http.Transport, url, id string) (fault string, err error) {
	status, body, err := rpc(ctx, transport, url, "tools/call", "getThing", fmt.Sprintf(`{"id":%q}`, id))
	if err != nil {
		return "", err
	}
	var answer struct {
		Result struct {
			IsError           bool
			StructuredContent struct{ ID string }
		}
	}
	if e := json.Unmarshal(body, &answer); e != nil || status != http.StatusOK || answer.Result.IsError || answer.Result.StructuredContent.ID != id {
		return fmt.Sprintf("call %s = %d %s", id, status, body), nil
	}
	return "", nil
}

// things is the service behind. It holds calls whose id begins with "held" until it is told to let go, or until they
// are cancelled, and notes every id that it sees.
type things struct {
	*httptest.Server
	seen      sync.Map      // id → true
	arrived   chan struct{} // a held call has arrived
	cancelled chan struct{} // a held call was cancelled
	release   chan struct{} // closed by the test
}

func newThings(t *testing.T) *things {
	t.Helper()
	s := &things{arrived: make(chan struct{}, 16), cancelled: make(chan struct{}, 16), release: make(chan struct{})}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := strings.TrimPrefix(r.URL.Path, "/things/")
		s.seen.Store(id, true)
		if strings.HasPrefix(id, "held") {
			s.arrived <- struct{}{}
			select {
			case <-s.release:
			case <-r.Context().Done():
				s.cancelled <- struct{}{}
				return
			}
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"id":%q}`, id)
	}))
	t.Cleanup(s.Close)
	return s
}

// configuration returns the files of a gateway in front of the service; extra is added to the section server.
func (s *things) configuration(extra string) map[string]string {
	return map[string]string{
		"drawbridge.yaml": fmt.Sprintf(`server: {listen: "127.0.0.1:0", %s}
admin: {listen: "127.0.0.1:0"}
apis: [{spec: api.yaml, name: things, base_url: %s}]
`, extra, s.URL),
		"api.yaml": servedDocument,
	}
}

// TestDrain ends a gateway that is under load. No call that was begun is lost: before the listener is closed every
// call succeeds, on connections of any age, and after that those that run come to their end (O5).
func TestDrain(t *testing.T) {
	for _, tt := range []struct{ name, tls string }{
		{"HTTP/1.1 in clear", ""}, {"HTTP/2 in clear", ""}, {"HTTP/1.1", "tls: {cert_file: tls.pem, key_file: tls.key}"}, {"HTTP/2", "tls: {cert_file: tls.pem, key_file: tls.key}"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			service := newThings(t)
			files := service.configuration(fmt.Sprintf("shutdown_delay: %s, drain_timeout: 10s, %s", drainDelay, tt.tls))
			files["tls.pem"], files["tls.key"] = newPair(t, 1)
			client := func() *http.Transport { return trusting(t, files["tls.pem"]) }
			if strings.HasPrefix(tt.name, "HTTP/1") {
				client = func() *http.Transport {
					c := trusting(t, files["tls.pem"])
					c.ForceAttemptHTTP2 = false
					return c
				}
			} else {
				shared := client()
				if tt.tls == "" {
					shared.Protocols = new(http.Protocols)
					shared.Protocols.SetUnencryptedHTTP2(true)
				}
				client = func() *http.Transport { return shared }
			}
			testDrain(t, service, files, client)
		})
	}
}

const drainDelay = 500 * time.Millisecond

func testDrain(t *testing.T, service *things, files map[string]string, client func() *http.Transport) {
	s := serve(t, files)
	s.await("document read", 1)
	s.awaitReady()

	var calls, late atomic.Int64  // calls that succeeded; those of them after the signal
	loaded := make(chan struct{}) // closed when the load is on
	var signalled atomic.Pointer[time.Time]
	var clients sync.WaitGroup
	for c := range 8 {
		clients.Go(func() {
			transport := client()
			for n := 0; ; n++ {
				id := fmt.Sprintf("%d-%d", c, n)
				fault, err := getThing(context.Background(), transport, s.mcp, id)
				at := signalled.Load()
				switch {
				case fault != "":
					t.Error(fault)
					return
				case err == nil:
					if calls.Add(1) == 100 {
						close(loaded)
					}
					if at != nil {
						late.Add(1)
					}
					continue
				case at == nil || time.Since(*at) < drainDelay:
					t.Errorf("call %s failed while the gateway still listened: %v", id, err)
				}
				if _, begun := service.seen.Load(id); begun {
					t.Errorf("call %s was begun and lost: %v", id, err)
				}
				return // the gateway listens no more
			}
		})
	}
	held := make(chan string, 1)
	go func() {
		fault, err := getThing(context.Background(), client(), s.mcp, "held")
		held <- fmt.Sprint(fault, err)
	}()
	timebox.Wait(t, service.arrived)
	select {
	case <-loaded:
	case <-time.After(time.Minute):
		t.Fatalf("only %d calls in a minute", calls.Load())
	}
	now := time.Now()
	signalled.Store(&now)
	s.signals <- syscall.SIGTERM
	s.await("draining", 1)
	if status, text := s.get("/readyz"); status != http.StatusServiceUnavailable || text != "draining\n" {
		t.Errorf("/readyz while draining = %d %q", status, text)
	}
	if status, _ := s.get("/healthz"); status != http.StatusOK {
		t.Errorf("/healthz while draining = %d: the process would be killed", status)
	}
	timebox.Done(t, clients.Wait)
	if late.Load() == 0 {
		t.Error("no call succeeded after the signal: the gateway stopped listening at once")
	}
	select {
	case code := <-s.exit:
		t.Fatalf("the program ended with %d while a call was running", code)
	case result := <-held:
		t.Fatalf("the held call ended: %s", result)
	default:
	}
	close(service.release)
	if result := timebox.Receive(t, held); result != "<nil>" {
		t.Errorf("the call that was running: %s", result)
	}
	if code := s.exited(); code != exitOK {
		t.Errorf("exit code %d, want 0", code)
	}
	if client().ForceAttemptHTTP2 {
		// net/http does not tell an HTTP/2 connection to go that came while it shuts down. If nobody uses it, it is waited for
		// until drain_timeout, though no call runs.
		return
	}
	s.await("drained", 1)
	s.never("cancelling calls that are still running")
}

// TestSecondSignal ends a gateway whose delay and drain would take minutes.
func TestSecondSignal(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		t.Run(signal.String(), func(t *testing.T) {
			service := newThings(t)
			s := serve(t, service.configuration("shutdown_delay: 10m, drain_timeout: 1h"))
			s.awaitReady()
			held := make(chan string, 1)
			go func() {
				fault, err := getThing(context.Background(), &http.Transport{DisableKeepAlives: true}, s.mcp, "held")
				if err != nil {
					fault = err.Error()
				}
				held <- fault
			}()
			timebox.Wait(t, service.arrived)
			s.signals <- syscall.SIGTERM
			s.await("draining", 1)
			s.signals <- syscall.SIGHUP // no end, and no reason to stop the drain
			s.signals <- signal
			if code := s.exited(); code != exitOK {
				t.Errorf("exit code %d, want 0", code)
			}
			if line := s.await("shutting down immediately", 1); line["signal"] != signal.String() {
				t.Errorf("log record %v", line)
			}
			// It is cut, but if there is a moment before, its caller hears why.
			if fault := timebox.Receive(t, held); fault == "" || strings.HasPrefix(fault, "call held = ") && !strings.HasPrefix(fault, "call held = 503 ") {
				t.Errorf("a call that was cut: %q", fault)
			}
			timebox.Wait(t, service.cancelled)
			s.await("cancelling calls that are still running", 1)
			s.never("drained")
		})
	}
}

// TestDrainTimeout cancels calls that do not end, and tells their callers.
func TestDrainTimeout(t *testing.T) {
	service := newThings(t)
	s := serve(t, service.configuration("shutdown_delay: 0s, drain_timeout: 50ms"))
	s.awaitReady()
	held := make(chan string, 1)
	go func() {
		fault, err := getThing(context.Background(), &http.Transport{DisableKeepAlives: true}, s.mcp, "held")
		if err != nil {
			fault = err.Error()
		}
		held <- fault
	}()
	timebox.Wait(t, service.arrived)
	s.signals <- syscall.SIGTERM
	if code := s.exited(); code != exitOK {
		t.Errorf("exit code %d, want 0", code)
	}
	s.await("cancelling calls that are still running", 1)
	s.never("closing connections that are still open")
	s.never("drained")
	if fault := timebox.Receive(t, held); !strings.HasPrefix(fault, "call held = 503 ") || !strings.Contains(fault, `"error":{`) || !strings.Contains(fault, "the server ends, and with it the call") {
		t.Errorf("the caller hears %q", fault)
	}
	timebox.Wait(t, service.cancelled)
}

// TestSignalBeforeServing ends a gateway whose only document hangs.
func TestSignalBeforeServing(t *testing.T) {
	arrived := make(chan struct{}, 16)
	hang := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		arrived <- struct{}{}
		<-r.Context().Done()
	}))
	defer hang.Close()
	s := serve(t, map[string]string{"drawbridge.yaml": fmt.Sprintf(`server: {listen: "127.0.0.1:0", shutdown_delay: 0s}
admin: {listen: "127.0.0.1:0"}
apis: [{spec: %s/openapi.yaml}]
`, hang.URL)})
	timebox.Wait(t, arrived)
	if status, text := s.get("/readyz"); status != http.StatusServiceUnavailable || text != "no API is served yet\n" {
		t.Errorf("/readyz = %d %q", status, text)
	}
	s.signals <- os.Interrupt
	if code := s.exited(); code != exitOK {
		t.Errorf("exit code %d, want 0", code)
	}
}

// TestReload changes a document that is neither watched nor polled, so that nothing but an order makes the gateway
// look at it.
func TestReload(t *testing.T) {
	var document atomic.Pointer[string]
	name := func(operation string) {
		text := strings.ReplaceAll(servedDocument, "getThing", operation)
		document.Store(&text)
	}
	name("first")
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, *document.Load())
	}))
	defer service.Close()
	good := fmt.Sprintf(`server: {listen: "127.0.0.1:0", shutdown_delay: 0s}
admin: {listen: "127.0.0.1:0", token: %s}
apis: [{spec: %s/openapi.yaml, refresh: 0s}]
`, adminToken, service.URL)
	s := serve(t, map[string]string{"drawbridge.yaml": good})
	s.awaitReady()
	want := func(tool string) {
		t.Helper()
		if got := s.tools(); len(got) != 1 || got[0] != tool {
			t.Errorf("tools = %v, want %s", got, tool)
		}
	}
	want("first")

	name("hangup")
	s.signals <- syscall.SIGHUP
	s.await("configuration in use", 1)
	want("hangup")

	name("posted")
	for _, tt := range []struct {
		token  string
		status int
		body   string
	}{
		{"", http.StatusUnauthorized, "send the token admin.token as \"Authorization: Bearer …\"\n"},
		{adminToken + "x", http.StatusUnauthorized, "send the token admin.token as \"Authorization: Bearer …\"\n"},
		{adminToken, http.StatusOK, "reloaded\n"},
	} {
		if status, body := s.post("/reload", tt.token); status != tt.status || body != tt.body {
			t.Errorf("POST /reload with %q = %d %q, want %d %q", tt.token, status, body, tt.status, tt.body)
		}
	}
	want("posted")

	// A bad configuration is refused with all of its problems, and what is served stays.
	bad := filepath.Join(s.dir, "drawbridge.yaml")
	s.write(map[string]string{"drawbridge.yaml": "apis: [{spec: '', nam: x}]\n"})
	problems := bad + ":1:15: apis[0].spec: is empty\n" + bad + `:1:19: apis[0].nam: unknown key; did you mean "name"?` + "\n"
	if status, body := s.post("/reload", adminToken); status != http.StatusUnprocessableEntity || body != problems {
		t.Errorf("POST /reload of a bad configuration = %d %q, want 422 %q", status, body, problems)
	}
	s.signals <- syscall.SIGHUP
	s.await("configuration rejected; the last good one stays in use", 2)
	if status, body := s.get("/readyz?verbose"); status != http.StatusOK || !strings.Contains(body, "unknown key") {
		t.Errorf("/readyz?verbose = %d %q, want the problems of the configuration", status, body)
	}
	want("posted")

	name("again")
	s.write(map[string]string{"drawbridge.yaml": good})
	if status, body := s.post("/reload", adminToken); status != http.StatusOK {
		t.Errorf("POST /reload = %d %q", status, body)
	}
	want("again")
	if status, body := s.get("/readyz?verbose"); status != http.StatusOK || strings.Contains(body, "unknown key") {
		t.Errorf("/readyz?verbose after the correction = %d %q", status, body)
	}
}

// TestPortInUse names the key to change, and gives back what it had taken.
func TestPortInUse(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, tt := range []struct{ key, server, admin string }{
		{"server.listen", taken.Addr().String(), "127.0.0.1:0"},
		{"admin.listen", "127.0.0.1:0", taken.Addr().String()},
	} {
		file := filepath.Join(t.TempDir(), "drawbridge.yaml")
		text := fmt.Sprintf("server: {listen: %q}\nadmin: {listen: %q}\napis: [{spec: api.yaml}]\n", tt.server, tt.admin)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), []string{"serve", "--config", file}, func(string) string { return "" }, &stdout, &stderr, nil)
		want := fmt.Sprintf("drawbridge: %s: listen tcp %s: bind: address already in use\n", tt.key, taken.Addr())
		if code != exitFail || stderr.String() != want || stdout.Len() > 0 {
			t.Errorf("exit code %d, %q; want 1, %q", code, stderr.String(), want)
		}
	}
}
