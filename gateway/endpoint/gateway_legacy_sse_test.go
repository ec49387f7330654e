package endpoint_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"drawbridge/test/gatewaytest"
	"drawbridge/test/timebox"
)

// TestOldTransport holds that the transport of 2024-11-05 is served where it was asked for, behind what protects /mcp.
func TestOldTransport(t *testing.T) {
	i, service := gatewaytest.NewIDP(t), gatewaytest.NewRecordingService(t)
	cfg := strings.Replace(gatewaytest.EndpointsConfig, "server: {", "server: {old_transport: true, allowed_origins: ['https://app.example.com'], ", 1)
	cfg = strings.Replace(cfg, "base_url: $BASE", "base_url: $BASE, pass_headers: [X-Tenant]", 1)
	g := gatewaytest.Start(t, gatewaytest.Document("Shop", "list", "purge", "show"), fmt.Sprintf(cfg, gatewaytest.Issuers(i)), service.URL)
	server := httptest.NewServer(g.Handler())
	defer server.Close()
	alice, bob := i.Token(t, nil), i.Token(t, map[string]any{"sub": "bob"})

	stranger := &gatewaytest.OldClient{T: t, Base: server.URL}
	for _, path := range []string{"/sse", "/mcp", "/messages?sessionId=x"} {
		method := map[bool]string{true: http.MethodPost, false: http.MethodGet}[strings.HasPrefix(path, "/messages")]
		resp := stranger.Request(method, path, gatewaytest.OldInitialize, nil)
		if resp.StatusCode != 401 || resp.Header.Get("WWW-Authenticate") != gatewaytest.Challenge {
			t.Errorf("%s %s without a token = %d %v", method, path, resp.StatusCode, resp.Header)
		}
		if resp := stranger.Request(method, path, gatewaytest.OldInitialize, http.Header{"Origin": {"https://evil.example"}}); resp.StatusCode != 403 {
			t.Errorf("%s %s of a foreign page = %d", method, path, resp.StatusCode)
		}
	}
	if resp := stranger.Request(http.MethodGet, "/sse/reading", "", nil); resp.StatusCode != 401 ||
		!strings.Contains(resp.Header.Get("WWW-Authenticate"), "oauth-protected-resource/mcp/reading") {
		t.Errorf("an endpoint without a token = %d %v", resp.StatusCode, resp.Header)
	}

	for _, path := range []string{"/sse", "/mcp"} {
		c := gatewaytest.OpenOld(t, server.URL, path, alice)
		if !strings.HasPrefix(c.Messages, "/messages?sessionId=") {
			t.Fatalf("messages go to %q", c.Messages)
		}
		if got := c.Ask(gatewaytest.OldInitialize); !strings.Contains(got, `"protocolVersion":"2024-11-05"`) {
			t.Errorf("initialize: %s", got)
		}
		if got := c.Ask(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`); !strings.Contains(got, `"name":"purge"`) {
			t.Errorf("list: %s", got)
		}
		resp := c.Request(http.MethodPost, c.Messages, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"show"}}`, http.Header{"X-Tenant": {"north"}})
		if got := c.Next(); resp.StatusCode != 202 || !strings.Contains(got, `"content":[`) {
			t.Errorf("call = %d %s", resp.StatusCode, got)
		}
		if sent := service.Taken(); len(sent) != 1 || sent[0].Header.Get("X-Tenant") != "north" {
			t.Errorf("the service got %+v", sent)
		}
		if got := c.Ask(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"purge"}}`); !strings.Contains(got, `"error":{`) || !strings.Contains(got, "scope") {
			t.Errorf("call without the scope: %s", got)
		}
		other := &gatewaytest.OldClient{T: t, Base: server.URL, Token: bob, Messages: c.Messages}
		if status := other.Send(`{"jsonrpc":"2.0","id":4,"method":"ping"}`); status != 404 {
			t.Errorf("a message of another caller = %d", status)
		}
	}
	reading := gatewaytest.OpenOld(t, server.URL, "/sse/reading", i.Token(t, map[string]any{"aud": gatewaytest.ResourceURL + "/reading", "scope": "read"}))
	if !strings.HasPrefix(reading.Messages, "/messages/reading?sessionId=") {
		t.Errorf("messages of an endpoint go to %q", reading.Messages)
	}
	reading.Ask(gatewaytest.OldInitialize)
	if got := reading.Ask(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`); !strings.Contains(got, `"name":"show"`) || strings.Contains(got, `"name":"purge"`) {
		t.Errorf("list of an endpoint: %s", got)
	}
	if err := g.EndStreams(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestOldTransportOff: who does not ask for the old transport has none of it.
func TestOldTransportOff(t *testing.T) {
	g := gatewaytest.Start(t, gatewaytest.Document("Shop", "list"), "", "http://127.0.0.1:1")
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
	g := gatewaytest.Start(t, gatewaytest.Document("Shop", "list"), "server: {old_transport: true, public_url: 'https://mcp.example.com/base'}\nauth: {anonymous: true}\napis: [{name: shop, spec: $SPEC, base_url: $BASE}]\n", service.URL)
	server := httptest.NewServer(g.Handler())
	defer server.Close()
	c := gatewaytest.OpenOld(t, server.URL, "/sse", "")
	path, ok := strings.CutPrefix(c.Messages, "/base")
	if !ok {
		t.Fatalf("messages go to %q", c.Messages)
	}
	c.Messages = path
	c.Ask(gatewaytest.OldInitialize)
	if status := c.Send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list"}}`); status != 202 {
		t.Fatal(status)
	}
	timebox.Wait(t, begun)
	ended := make(chan error, 1)
	go func() { ended <- g.EndStreams(t.Context()) }()
	for c.Send(`{"jsonrpc":"2.0","id":2,"method":"ping"}`) == 202 {
		if got := c.Next(); !strings.Contains(got, `"id":2`) {
			t.Fatal(got)
		}
	}
	close(release)
	if got := c.Next(); !strings.Contains(got, `"id":1`) || !strings.Contains(got, "slow") {
		t.Errorf("the answer is %q", got)
	}
	if got := c.Next(); got != "" {
		t.Errorf("after the answer: %q", got)
	}
	if err := timebox.Receive(t, ended); err != nil {
		t.Error(err)
	}
}
