package gateway_test

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"drawbridge/gateway"
	"drawbridge/test/gatewaytest"
)

// TestSealKeyFileRestart: a session goes on after a restart with the same file, and ends with another.
func TestSealKeyFileRestart(t *testing.T) {
	service := gatewaytest.NewRecordingService(t)
	path := filepath.Join(t.TempDir(), "seal")
	begin := func() *gateway.Gateway {
		return gatewaytest.Start(t, gatewaytest.Document("A", "one"), "server: {seal_key_file: "+path+"}\napis: [{name: a, spec: $SPEC, base_url: $BASE}]\n", service.URL)
	}
	c := gatewaytest.NewClient(t, begin().Handler(), "2025-11-25", "")
	if w := c.Call("one"); !gatewaytest.Succeeded(w) {
		t.Fatal(w.Code, w.Body)
	}
	c.H = begin().Handler()
	if w := c.Call("one"); !gatewaytest.Succeeded(w) {
		t.Errorf("after a restart: %d %s", w.Code, w.Body)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	c.H = begin().Handler()
	if w := c.Call("one"); w.Code != http.StatusNotFound {
		t.Errorf("with another key: %d %s", w.Code, w.Body)
	}
}
