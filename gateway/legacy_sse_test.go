package gateway

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"drawbridge/gateway/admission"
	"drawbridge/test/timebox"
)

// oldClient is a client of the transport of 2024-11-05.
type oldClient struct {
	t        *testing.T
	base     string // of the server
	token    string
	messages string // where the stream says that messages are sent
	events   *bufio.Scanner
}

// request sends a request to the gateway, which is known as mcp.example.com.
func (c *oldClient) request(method, path, body string, header http.Header) *http.Response {
	c.t.Helper()
	req, err := http.NewRequestWithContext(c.t.Context(), method, c.base+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	req.Host = "mcp.example.com"
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream")
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	for name, values := range header {
		req.Header[name] = values
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

// openOld opens a stream and reads where messages go.
func openOld(t *testing.T, base, path, token string) *oldClient {
	t.Helper()
	c := &oldClient{t: t, base: base, token: token}
	resp := c.request(http.MethodGet, path, "", nil)
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("GET %s = %d %v", path, resp.StatusCode, resp.Header)
	}
	c.events = bufio.NewScanner(resp.Body)
	c.events.Buffer(nil, 4<<20)
	c.messages = c.next()
	return c
}

// next returns the data of the next event, "" at the end of the stream.
func (c *oldClient) next() string {
	c.t.Helper()
	for c.events.Scan() {
		if data, ok := strings.CutPrefix(c.events.Text(), "data: "); ok {
			return data
		}
	}
	return ""
}

// send posts a message and returns the status.
func (c *oldClient) send(body string) int {
	c.t.Helper()
	resp := c.request(http.MethodPost, c.messages, body, nil)
	defer resp.Body.Close()
	return resp.StatusCode
}

// ask posts a request and returns its answer.
func (c *oldClient) ask(body string) string {
	c.t.Helper()
	if status := c.send(body); status != http.StatusAccepted {
		c.t.Fatalf("%s = %d", body, status)
	}
	return c.next()
}

const oldInitialize = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

// TestOldTransport holds that the transport of 2024-11-05 is served where it was asked for, behind what protects /mcp.
func TestOldTransport(t *testing.T) {
	i, service := newIDP(t), newRecordingService(t)
	cfg := strings.Replace(endpointsConfig, "server: {", "server: {old_transport: true, allowed_origins: ['https://app.example.com'], ", 1)
	cfg = strings.Replace(cfg, "base_url: $BASE", "base_url: $BASE, pass_headers: [X-Tenant]", 1)
	g := start(t, document("Shop", "list", "purge", "show"), fmt.Sprintf(cfg, issuers(i)), service.URL)
	server := httptest.NewServer(g.Handler())
	defer server.Close()
	alice, bob := i.token(t, nil), i.token(t, map[string]any{"sub": "bob"})

	stranger := &oldClient{t: t, base: server.URL}
	for _, path := range []string{"/sse", "/mcp", "/messages?sessionId=x"} {
		method := map[bool]string{true: http.MethodPost, false: http.MethodGet}[strings.HasPrefix(path, "/messages")]
		resp := stranger.request(method, path, oldInitialize, nil)
		if resp.StatusCode != 401 || resp.Header.Get("WWW-Authenticate") != challenge {
			t.Errorf("%s %s without a token = %d %v", method, path, resp.StatusCode, resp.Header)
		}
		if resp := stranger.request(method, path, oldInitialize, http.Header{"Origin": {"https://evil.example"}}); resp.StatusCode != 403 {
			t.Errorf("%s %s of a foreign page = %d", method, path, resp.StatusCode)
		}
	}
	if resp := stranger.request(http.MethodGet, "/sse/reading", "", nil); resp.StatusCode != 401 ||
		!strings.Contains(resp.Header.Get("WWW-Authenticate"), "oauth-protected-resource/mcp/reading") {
		t.Errorf("an endpoint without a token = %d %v", resp.StatusCode, resp.Header)
	}

	for _, path := range []string{"/sse", "/mcp"} {
		c := openOld(t, server.URL, path, alice)
		if !strings.HasPrefix(c.messages, "/messages?sessionId=") {
			t.Fatalf("messages go to %q", c.messages)
		}
		if got := c.ask(oldInitialize); !strings.Contains(got, `"protocolVersion":"2024-11-05"`) {
			t.Errorf("initialize: %s", got)
		}
		if got := c.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`); !strings.Contains(got, `"name":"purge"`) {
			t.Errorf("list: %s", got)
		}
		resp := c.request(http.MethodPost, c.messages, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"show"}}`, http.Header{"X-Tenant": {"north"}})
		if got := c.next(); resp.StatusCode != 202 || !strings.Contains(got, `"content":[`) {
			t.Errorf("call = %d %s", resp.StatusCode, got)
		}
		if sent := service.taken(); len(sent) != 1 || sent[0].Header.Get("X-Tenant") != "north" {
			t.Errorf("the service got %+v", sent)
		}
		if got := c.ask(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"purge"}}`); !strings.Contains(got, `"error":{`) || !strings.Contains(got, "scope") {
			t.Errorf("call without the scope: %s", got)
		}
		other := &oldClient{t: t, base: server.URL, token: bob, messages: c.messages}
		if status := other.send(`{"jsonrpc":"2.0","id":4,"method":"ping"}`); status != 404 {
			t.Errorf("a message of another caller = %d", status)
		}
	}
	reading := openOld(t, server.URL, "/sse/reading", i.token(t, map[string]any{"aud": resourceURL + "/reading", "scope": "read"}))
	if !strings.HasPrefix(reading.messages, "/messages/reading?sessionId=") {
		t.Errorf("messages of an endpoint go to %q", reading.messages)
	}
	reading.ask(oldInitialize)
	if got := reading.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`); !strings.Contains(got, `"name":"show"`) || strings.Contains(got, `"name":"purge"`) {
		t.Errorf("list of an endpoint: %s", got)
	}
	if err := g.EndStreams(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestOldTransportGivesRoomBack: a large answer, which goes out after the request that asked for it has ended, keeps no room.
func TestOldTransportGivesRoomBack(t *testing.T) {
	g := start(t, document("Shop", "list", "large600"),
		"server: {old_transport: true, allowed_hosts: [mcp.example.com]}\napis: [{name: shop, spec: $SPEC, base_url: $BASE}]\nlimits: {max_result_tokens: 0}\n", largeService(t))
	withRoom(g, 16<<20)
	server := httptest.NewServer(g.Handler())
	t.Cleanup(server.Close) // after the stream has ended
	c := openOld(t, server.URL, "/sse", "")
	c.ask(oldInitialize)
	for id := range 3 {
		if got := c.ask(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"large600","arguments":{}}}`, id)); len(got) < 600<<10 {
			t.Fatalf("%.1000s", got)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // a call gives its room back a moment after its answer is out
	defer cancel()
	if err := g.admission.responses.NewReservation(admission.Caller{}).Begin(ctx, g.admission.responses.Capacity(), 0); err != nil {
		t.Error("room was not given back")
	}
}

// TestOldTransportOff: who does not ask for the old transport has none of it.
func TestOldTransportOff(t *testing.T) {
	g := start(t, document("Shop", "list"), "", "http://127.0.0.1:1")
	for path, want := range map[string]int{"/sse": 404, "/messages": 404, "/mcp": 400} {
		r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1:8080"+path, nil)
		r.Header.Set("Accept", "text/event-stream")
		w := httptest.NewRecorder()
		if g.Handler().ServeHTTP(w, r); w.Code != want {
			t.Errorf("GET %s = %d, want %d", path, w.Code, want)
		}
	}
}

// TestOldTransportDrain: a call that runs when the streams are ended is answered on its stream, and nothing new is begun there.
func TestOldTransportDrain(t *testing.T) {
	begun, release := make(chan struct{}), make(chan struct{})
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(begun)
		<-release
		_, _ = io.WriteString(w, `"slow"`)
	}))
	defer service.Close()
	g := start(t, document("Shop", "list"), "server: {old_transport: true, public_url: 'https://mcp.example.com/base'}\nauth: {anonymous: true}\napis: [{name: shop, spec: $SPEC, base_url: $BASE}]\n", service.URL)
	server := httptest.NewServer(g.Handler())
	defer server.Close()
	c := openOld(t, server.URL, "/sse", "")
	path, ok := strings.CutPrefix(c.messages, "/base")
	if !ok {
		t.Fatalf("messages go to %q", c.messages)
	}
	c.messages = path
	c.ask(oldInitialize)
	if status := c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list"}}`); status != 202 {
		t.Fatal(status)
	}
	timebox.Wait(t, begun)
	ended := make(chan error, 1)
	go func() { ended <- g.EndStreams(t.Context()) }()
	for c.send(`{"jsonrpc":"2.0","id":2,"method":"ping"}`) == 202 {
		if got := c.next(); !strings.Contains(got, `"id":2`) {
			t.Fatal(got)
		}
	}
	close(release)
	if got := c.next(); !strings.Contains(got, `"id":1`) || !strings.Contains(got, "slow") {
		t.Errorf("the answer is %q", got)
	}
	if got := c.next(); got != "" {
		t.Errorf("after the answer: %q", got)
	}
	if err := timebox.Receive(t, ended); err != nil {
		t.Error(err)
	}
}
