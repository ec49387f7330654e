package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"drawbridge/test/timebox"
)

// TestDrainTimeoutOfGoneEndpoint holds that a call of an older revision, which outlives its request, is cancelled at the end of the drain and
// has its line in the audit log, though its endpoint is gone.
func TestDrainTimeoutOfGoneEndpoint(t *testing.T) {
	service := newThings(t)
	files := service.configuration("shutdown_delay: 0s, drain_timeout: 50ms")
	files["api.yaml"] = strings.Replace(servedDocument, "    get:\n      operationId: getThing", "    post:\n      operationId: makeThing", 1)
	without := files["drawbridge.yaml"] + "audit: {file: audit.jsonl}\n"
	files["drawbridge.yaml"] = without + "endpoints: [{name: gone, match: {operation: makeThing}}]\n"
	s := serve(t, files)
	s.awaitReady()
	transport := &http.Transport{DisableKeepAlives: true}
	session := ""
	send := func(body string) string {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.mcp+"/gone", strings.NewReader(body))
		if err != nil {
			return err.Error()
		}
		r.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "Mcp-Protocol-Version": {"2025-11-25"}}
		if session != "" {
			r.Header.Set("Mcp-Session-Id", session)
		}
		resp, err := transport.RoundTrip(r)
		if err != nil {
			return err.Error()
		}
		defer resp.Body.Close()
		session = resp.Header.Get("Mcp-Session-Id")
		answer, err := io.ReadAll(resp.Body)
		return fmt.Sprint(resp.StatusCode, " ", string(answer), err)
	}
	send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	held := make(chan string, 1)
	go func() {
		held <- send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"makeThing","arguments":{"id":"held"}}}`)
	}()
	timebox.Wait(t, service.arrived)
	s.write(map[string]string{"drawbridge.yaml": without})
	s.await("configuration in use", 1)
	s.signals <- syscall.SIGTERM
	if code := s.exited(); code != exitOK {
		t.Errorf("exit code %d, want 0", code)
	}
	s.await("cancelling calls that are still running", 1)
	s.never("closing connections that are still open")
	if fault := timebox.Receive(t, held); !strings.HasPrefix(fault, "503 ") || !strings.Contains(fault, "the server ends, and with it the call") {
		t.Errorf("the caller hears %q", fault)
	}
	if line, err := os.ReadFile(filepath.Join(s.dir, "audit.jsonl")); err != nil || !strings.Contains(string(line), `"makeThing"`) {
		t.Errorf("audit log: %s %v", line, err)
	}
}
