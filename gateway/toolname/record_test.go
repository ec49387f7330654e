package toolname

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"drawbridge/gateway/catalog"
)

func recordIn(dir string, log *bytes.Buffer) *Record {
	return New(Options{Dir: dir, ConfigFile: "drawbridge.yaml", Logger: slog.New(slog.NewTextHandler(log, nil)), Recover: func(_ string, step func()) bool { step(); return false }})
}

// TestRecord: names that were noted are there after a restart.
func TestRecord(t *testing.T) {
	var log bytes.Buffer
	dir := filepath.Join(t.TempDir(), "state")
	r := recordIn(dir, &log)
	if got := r.Read(t.Context()); got != nil || log.Len() > 0 {
		t.Errorf("without a file: %v, log %s", got, &log)
	}
	names := catalog.Published{
		{API: "shop", Method: "GET", Path: "/orders"}:  {ID: "list", Names: []string{"list_orders", "list"}, Short: true},
		{API: "shop", Method: "POST", Path: "/orders"}: {Names: []string{"create_orders"}},
	}
	r.Note(catalog.Published{})
	r.Note(names)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	r.Run(ended)
	if diff := cmp.Diff(names, recordIn(dir, &log).Read(t.Context())); diff != "" || log.Len() > 0 {
		t.Errorf("(-want +got)\n%s, log %s", diff, &log)
	}
}

// TestDamagedRecord: a file that can't be read is reported, and no name is taken from it.
func TestDamagedRecord(t *testing.T) {
	for _, text := range []string{"", "{", `{"version": 2, "operations": []}`, `{"version": 1, "operations": [{"names": "x"}]}`} {
		var log bytes.Buffer
		r := recordIn(t.TempDir(), &log)
		if err := os.WriteFile(r.path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := r.Read(t.Context()); got != nil || !bytes.Contains(log.Bytes(), []byte("can't be read")) {
			t.Errorf("%q: %v, log %s", text, got, &log)
		}
	}
	var none *Record
	none.Note(nil)
	none.Run(t.Context())
	if none.Read(t.Context()) != nil || New(Options{}) != nil {
		t.Error("a record without a directory")
	}
}
