package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestUploadCommand holds which request sends a file, that the token goes nowhere else, and the messages of failures.
func TestUploadCommand(t *testing.T) {
	var got *http.Request
	var content []byte
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("a redirect was followed with %v", r.Header)
	}))
	t.Cleanup(elsewhere.Close)
	gateway := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r
		content, _ = io.ReadAll(r.Body)
		switch {
		case strings.HasPrefix(r.URL.Path, "/moved/"):
			http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
		case r.URL.Path != "/files":
			http.NotFound(w, r)
		case r.Header.Get("Authorization") == "Bearer other":
			w.WriteHeader(http.StatusUnauthorized)
		case len(content) == 0:
			http.Error(w, "the file is larger than 5 bytes (files.max_size)", http.StatusRequestEntityTooLarge)
		default:
			w.WriteHeader(http.StatusCreated)
			_, _ = io.WriteString(w, `{"uri":"drawbridge-file:abcdefghijklmnop"}`)
		}
	}))
	t.Cleanup(gateway.Close)
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	invoice, empty, tokenFile := file("Rechnung ä.pdf", "%PDF-1.7"), file("empty", ""), file("token", "other\n")
	for _, tt := range []struct {
		args []string
		code int
		want string // in the output
	}{
		{[]string{invoice, "--url", gateway.URL}, exitOK, "drawbridge-file:abcdefghijklmnop\n"},
		{[]string{invoice, "--url", gateway.URL + "/mcp/"}, exitOK, "drawbridge-file:abcdefghijklmnop\n"},
		{[]string{invoice, "--url", gateway.URL, "--token-file", tokenFile}, exitFail, "accepts no such token: set DRAWBRIDGE_TOKEN or --token-file"},
		{[]string{invoice, "--url", gateway.URL + "/moved"}, exitFail, "307 Temporary Redirect"},
		{[]string{invoice, "--url", gateway.URL + "/else"}, exitFail, "keeps no files, or is no gateway"},
		{[]string{empty, "--url", gateway.URL}, exitFail, "the file is larger than 5 bytes"},
		{[]string{dir, "--url", gateway.URL}, exitFail, "is not a regular file"},
		{[]string{filepath.Join(dir, "absent"), "--url", gateway.URL}, exitFail, "no such file"},
		{[]string{invoice}, exitUsage, "--url must be the http or https URL of a gateway"},
		{[]string{invoice, "--url", "http://mcp.example.com"}, exitUsage, "must be an https URL, since the token is sent to it"},
		{[]string{invoice, "--url", gateway.URL, "--token-file", invoice + "x"}, exitUsage, "--token-file"},
		{[]string{"--url", gateway.URL}, exitUsage, "give one file"},
	} {
		var out bytes.Buffer
		code := run(t.Context(), append([]string{"upload"}, tt.args...), func(name string) string {
			return map[string]string{"DRAWBRIDGE_TOKEN": "s3cr3t"}[name]
		}, &out, &out, nil)
		if code != tt.code || !strings.Contains(out.String(), tt.want) || strings.Contains(out.String(), "s3cr3t") {
			t.Errorf("%q = %d, %s", tt.args, code, out.String())
		}
		if tt.code == exitOK && (got.Header.Get("Authorization") != "Bearer s3cr3t" || string(content) != "%PDF-1.7" || got.ContentLength != 8 ||
			got.Header.Get("Content-Type") != "application/pdf" || !strings.Contains(got.Header.Get("Content-Disposition"), "Rechnung%20%C3%A4.pdf")) {
			t.Errorf("%q: %v, %s", tt.args, got.Header, content)
		}
	}
}
