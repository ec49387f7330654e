package main

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCallTellsTheCause: a certificate that nobody vouches for, and a service that is too slow, are told apart on standard error, with the
// service's host and port; the result for the model has neither.
func TestCallTellsTheCause(t *testing.T) {
	secured := httptest.NewTLSServer(http.NotFoundHandler())
	defer secured.Close()
	slow := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer slow.Close()
	for name, tt := range map[string]struct{ base, limits, want string }{
		"certificate": {secured.URL, "60s", `cause: call API "things": tls: tls: failed to verify certificate: x509: `}, // a handshake may take long on a busy machine
		"time":        {slow.URL, "300ms", `cause: call API "things": timeout: `},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, text := range map[string]string{
				"things.yaml":     servedDocument,
				"drawbridge.yaml": "limits: {first_byte_timeout: " + tt.limits + "}\napis: [{spec: things.yaml, name: things, timeout: " + tt.limits + ", base_url: \"" + tt.base + "\", credential: {type: bearer, token: \"${TOKEN}\"}}]\n",
			} {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			var stdout, stderr bytes.Buffer
			code := run(context.Background(), []string{"call", "--config", filepath.Join(dir, "drawbridge.yaml"), "getThing", `{"id":"7"}`},
				func(string) string { return "hidden-s3cr3t" }, &stdout, &stderr, nil)
			if code != exitFail || !strings.HasPrefix(stderr.String(), tt.want) || !strings.HasSuffix(stderr.String(), "; the service is at "+tt.base+"\n") {
				t.Errorf("exit code %d, standard error %q, want %s…, and %s", code, stderr.String(), tt.want, tt.base)
			}
			if host := strings.TrimPrefix(strings.TrimPrefix(tt.base, "https://"), "http://"); strings.Contains(stdout.String(), host) {
				t.Errorf("the result names %s:\n%s", host, stdout.String())
			}
			if strings.Contains(stdout.String()+stderr.String(), "hidden") {
				t.Errorf("a secret is shown: %s%s", stdout.String(), stderr.String())
			}
		})
	}
}
