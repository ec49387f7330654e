package fetch

import (
	"errors"
	"net/http"
	"path/filepath"
	"testing"
)

// TestReread checks that the files of a stamp and their overlays are read again, and that changes are reported.
func TestReread(t *testing.T) {
	dir := t.TempDir()
	root := write(t, dir, "root.yaml", "root")
	write(t, dir, "part.yaml", "part")
	overlay := write(t, t.TempDir(), "overlay.yaml", "overlay")
	remote := newOverlayServer(t, map[string]string{"/root": "root"})
	for name, tt := range map[string]struct {
		location string
		parts    []string
	}{"files": {root, []string{"part.yaml"}}, "a URL": {remote.URL + "/root", nil}} {
		t.Run(name, func(t *testing.T) {
			open := func() *Source {
				s, err := New(tt.location, Options{Client: http.DefaultClient, Overlays: []string{overlay}, Keep: true})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(s.Close)
				return s
			}
			first := open()
			if _, err := first.Root(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			files := []string{first.Location()}
			for _, part := range tt.parts {
				part = filepath.Join(filepath.Dir(first.Location()), part)
				if _, err := first.Open(t.Context(), part, first.Location(), 1); err != nil {
					t.Fatal(err)
				}
				files = append(files, part)
			}
			stamp := first.Stamp(files)
			again, err := open().Reread(t.Context(), stamp)
			if err != nil || !again.Is(stamp) || len(again.Files) != len(files) || string(again.Files[0].Data) != "root" {
				t.Fatalf("%+v %v", again, err)
			}
			write(t, filepath.Dir(overlay), "overlay.yaml", "another")
			if _, err := open().Reread(t.Context(), stamp); !errors.Is(err, ErrChanged) {
				t.Errorf("another overlay: %v", err)
			}
			write(t, filepath.Dir(overlay), "overlay.yaml", "overlay")
			if _, err := open().Reread(t.Context(), stamp); err != nil {
				t.Errorf("the overlay as it was: %v", err)
			}
			if tt.parts == nil {
				return
			}
			write(t, dir, "part.yaml", "other")
			if _, err := open().Reread(t.Context(), stamp); !errors.Is(err, ErrChanged) {
				t.Errorf("another part: %v", err)
			}
		})
	}
}
