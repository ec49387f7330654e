package gateway_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"drawbridge/test/gatewaytest"
	"drawbridge/test/timebox"
)

// TestEndedAtAnotherReplica: a session that is ended at one replica while Redis is away has its stream at another end when it is back.
func TestEndedAtAnotherReplica(t *testing.T) {
	service, m := gatewaytest.NewRecordingService(t), miniredis.RunT(t)
	all := replicas(t, m, 2, gatewaytest.Document("Shop", "list"), "server: {seal_keys: [\"the-key-of-all-replicas-0123456789\"], keep_alive: 1s}\n"+
		"apis: [{name: shop, spec: $SPEC, base_url: $BASE}]\nstate: {redis: {url: \"$REDIS\", timeout: 1s}}\n", service.URL)
	var bases [2]string
	for i, g := range all {
		server := httptest.NewServer(g.Handler())
		defer server.Close()
		bases[i] = server.URL
	}
	session := ""
	request := func(replica int, method, body string) *http.Response {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, bases[replica]+"/mcp", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Host = "127.0.0.1:8080"
		for name, value := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Session-Id": session} {
			if value != "" {
				req.Header.Set(name, value)
			}
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = resp.Body.Close() })
		if resp.StatusCode/100 != 2 {
			t.Fatalf("%s = %s", method, resp.Status)
		}
		return resp
	}
	session = request(0, http.MethodPost, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`).
		Header.Get("Mcp-Session-Id")
	stream := request(1, http.MethodGet, "")
	m.Close()
	request(0, http.MethodDelete, "")
	if err := m.Restart(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := io.Copy(io.Discard, stream.Body)
		ended <- err
	}()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Error("the stream goes on")
		_ = stream.Body.Close()
		timebox.Wait(t, ended)
	}
}
