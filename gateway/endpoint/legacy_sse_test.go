package endpoint

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"drawbridge/config"
)

// TestMessagesPath: clients resolve the path against the URL of the stream, which has what public_url has.
func TestMessagesPath(t *testing.T) {
	r := httptest.NewRequest(http.MethodGet, "/sse", nil)
	for public, want := range map[string]string{"https://a.example": "/messages/x", "https://a.example/b/": "/b/messages/x", "https://a.example/b%20c": "/b%20c/messages/x"} {
		path := filepath.Join(t.TempDir(), "drawbridge.yaml")
		if err := os.WriteFile(path, []byte("server: {public_url: '"+public+"'}\nauth: {anonymous: true}\napis: [{spec: api.yaml}]\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		c, problems := config.Load(path, func(string) string { return "" })
		if err := problems.Err(); err != nil {
			t.Fatal(err)
		}
		if got := messagesPath(c, "x")(r); got != want {
			t.Errorf("%s: %q, want %q", public, got, want)
		}
	}
	if got := messagesPath(&config.Config{}, "")(r); got != "/messages" {
		t.Errorf("without a URL: %q", got)
	}
}
