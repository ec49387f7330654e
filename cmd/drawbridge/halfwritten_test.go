package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestHalfWritten: behind a proxy on the same machine a configuration file is written anew in two steps, apis first. Calls without a token are refused all the
// time, what is no configuration is refused in its place, and what opens access waits for SIGHUP. (pains row 104)
func TestHalfWritten(t *testing.T) {
	service := newThings(t)
	files := service.configuration("shutdown_delay: 0s")
	whole := files["drawbridge.yaml"] + "auth: {issuers: [{issuer: 'http://127.0.0.1:1'}], default_scopes: [a]}\n"
	part := files["drawbridge.yaml"]
	files["drawbridge.yaml"] = strings.Replace(whole, "server: {", "server: {public_url: 'http://localhost:1', ", 1)
	s := serve(t, files)
	s.awaitServing()
	file := filepath.Join(s.dir, "drawbridge.yaml")
	served, err := os.ReadFile(file) // with the ports
	if err != nil {
		t.Fatal(err)
	}
	refused := func(when string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.mcp, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"getThing","arguments":{"id":"7"}}}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s: a call without a token = %d", when, resp.StatusCode)
		}
	}
	said := func(text string) {
		t.Helper()
		for limit := time.After(20 * time.Second); ; {
			_, changed := s.log.records("")
			if strings.Contains(s.log.String(), text) {
				return
			}
			select {
			case <-changed:
			case <-limit:
				t.Fatalf("the log does not say %q", text)
			}
		}
	}
	inPlace := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	refused("at first")
	inPlace(part)
	said("a reload never drops it")
	refused("with apis alone")
	s.signals <- syscall.SIGHUP
	refused("after SIGHUP")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(file, 0o700); err != nil {
		t.Fatal(err)
	}
	s.signals <- syscall.SIGHUP
	said("is a directory, not a file")
	refused("with a directory")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	inPlace(servedDocument)
	said("is an OpenAPI document, not a configuration file")
	refused("with a document")
	inPlace(strings.Replace(string(served), "default_scopes: [a]", "default_scopes: [b]", 1))
	said("configuration held")
	refused("with another scope")
	s.signals <- syscall.SIGHUP
	said("accepted a configuration that grants more access")
	refused("in the end")
}
