package gateway

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"
)

// TestSealKeyFileRestart: a session goes on after a restart with the same file, and ends with another.
func TestSealKeyFileRestart(t *testing.T) {
	service := newRecordingService(t)
	path := filepath.Join(t.TempDir(), "seal")
	begin := func() *Gateway {
		return start(t, document("A", "one"), "server: {seal_key_file: "+path+"}\napis: [{name: a, spec: $SPEC, base_url: $BASE}]\n", service.URL)
	}
	c := newClient(t, begin().Handler(), "2025-11-25", "")
	if w := c.call("one"); !succeeded(w) {
		t.Fatal(w.Code, w.Body)
	}
	c.h = begin().Handler()
	if w := c.call("one"); !succeeded(w) {
		t.Errorf("after a restart: %d %s", w.Code, w.Body)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	c.h = begin().Handler()
	if w := c.call("one"); w.Code != http.StatusNotFound {
		t.Errorf("with another key: %d %s", w.Code, w.Body)
	}
}
