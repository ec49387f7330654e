package main

import (
	"net/http"
	"strings"
	"testing"
)

// TestClientInLog shows the caller's address in the access log: the one that a trusted proxy tells, and no other's word.
func TestClientInLog(t *testing.T) {
	for _, tt := range []struct{ proxies, want string }{
		{"trusted_proxies: [127.0.0.0/8]", "198.51.100.1"},
		{"trusted_proxies: [10.0.0.0/8]", "127.0.0.1"},
		{"", "127.0.0.1"},
	} {
		service := newThings(t)
		files := service.configuration(strings.Trim("shutdown_delay: 0s, "+tt.proxies, ", "))
		files["drawbridge.yaml"] += "telemetry: {log_level: debug}\nauth: {anonymous: true}\n"
		s := serve(t, files)
		s.awaitReady()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.mcp, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("X-Forwarded-For", "1.1.1.1, 198.51.100.1")
		resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if line := s.await("request", 1); line["client"] != tt.want {
			t.Errorf("%s: log record %v, want client %s", tt.proxies, line, tt.want)
		}
	}
}

// TestClientOfRefusedToken shows whose token was refused: who looks for a guesser needs the address, not the token.
func TestClientOfRefusedToken(t *testing.T) {
	service := newThings(t)
	files := service.configuration("shutdown_delay: 0s, trusted_proxies: [127.0.0.1]")
	files["drawbridge.yaml"] += "telemetry: {log_level: debug}\nauth: {issuers: [{issuer: 'http://127.0.0.1:1'}], default_scopes: [a], }\n"
	files["drawbridge.yaml"] = strings.Replace(files["drawbridge.yaml"], "server: {", "server: {public_url: 'http://localhost:1', ", 1)
	s := serve(t, files)
	s.awaitServing()
	r := httpGet(t, s.mcp)
	r.Header.Set("Authorization", "Bearer canary-token-of-the-test")
	r.Header.Set("X-Forwarded-For", "198.51.100.1")
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if line := s.await("token refused", 1); resp.StatusCode != http.StatusUnauthorized || line["client"] != "198.51.100.1" {
		t.Errorf("%s, log record %v", resp.Status, line)
	}
	if strings.Contains(s.log.String(), "canary-token") {
		t.Error("the token is in the log")
	}
}
