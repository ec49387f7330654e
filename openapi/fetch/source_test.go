package fetch

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"drawbridge/openapi/tree"
)

// read reads the root document and one other file, and returns the stamp and the copy of both.
func read(t *testing.T, s *Source) (Stamp, *Copy) {
	t.Helper()
	if _, err := s.Root(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	file := s.Location()[:strings.LastIndex(s.Location(), "/")+1] + "part"
	if text, err := s.Open(t.Context(), file, s.Location(), 1); err != nil || string(text) != "part" {
		t.Fatalf("%q, %v", text, err)
	}
	stamp := s.Stamp([]string{s.Location(), file})
	return stamp, s.Copy(stamp)
}

// TestSource reads the same files from a URL, from a directory and from the copy of each.
func TestSource(t *testing.T) {
	dir := t.TempDir()
	root := write(t, dir, "root", "root")
	write(t, dir, "part", "part")
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer server.Close()
	for _, location := range []string{root, server.URL + "/root"} {
		o := Options{Client: server.Client(), Keep: true}
		s, err := New(location, o)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		stamp, c := read(t, s)
		if c == nil || c.Bytes() != 8 || !c.Is(stamp) {
			t.Fatalf("%s: %+v is not the copy of %v", location, c, stamp)
		}
		again, err := FromCopy(location, c, o)
		if err != nil {
			t.Fatal(err)
		}
		if copied, _ := read(t, again); copied.Digest != stamp.Digest {
			t.Errorf("%s: the copy has the stamp %v, want %v", location, copied, stamp)
		}
		found, configured := s.URLs()
		if remote := location != root; (found != nil) != remote || (configured != nil) != remote {
			t.Errorf("%s: %v, %v", location, found, configured)
		}
		// Files of a stamp are read once more, and Open does not read them again.
		s, err = New(location, o)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if _, err := s.Root(t.Context(), &stamp); !errors.Is(err, ErrUnchanged) || !s.IsKnown(stamp.Files[1]) {
			t.Errorf("%s: %v", location, err)
		}
	}
}

// TestSourceSmall checks that the error of a document that is too large for now outlives the error of its file.
func TestSourceSmall(t *testing.T) {
	dir := t.TempDir()
	root := write(t, dir, "root", "root")
	write(t, dir, "part", "part")
	for small, want := range map[int64]error{3: ErrLarge, 7: ErrLarge, 8: nil} {
		s, err := New(root, Options{Small: small})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if _, err = s.Root(t.Context(), nil); err == nil {
			_, _ = s.Open(t.Context(), filepath.Join(dir, "part"), root, 1)
			err = s.Err()
		}
		if !errors.Is(err, want) {
			t.Errorf("%d bytes: %v, want %v", small, err, want)
		}
	}
}

// slow is a transport with a delay.
type slow time.Duration

func (s slow) RoundTrip(req *http.Request) (*http.Response, error) {
	select {
	case <-time.After(time.Duration(s)):
		return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Header: http.Header{}, Request: req}, nil
	case <-req.Context().Done():
		return nil, req.Context().Err()
	}
}

// TestSourceTimeout checks that the timeout applies to all files together, and that a file that comes too late is not
// just missing.
func TestSourceTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := New("https://a.example/root", Options{Client: &http.Client{Transport: slow(2 * time.Second)}, Timeout: 3 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Root(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour) // time between files doesn't count
		if _, err := s.Open(t.Context(), "https://a.example/part", s.Location(), 1); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the file: %v", err)
		}
		if err := s.Err(); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the document: %v", err)
		}
	})
}

// TestWarnings checks the warnings about a page and an unusual charset.
func TestWarnings(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			_, _ = w.Write([]byte(`<!DOCTYPE html><redoc spec-url="spec"></redoc>`))
			return
		}
		w.Header().Set("Content-Type", "text/plain; charset=GBK")
		_, _ = w.Write([]byte("\xb6\xa9"))
	}))
	defer server.Close()
	s, err := New(server.URL, Options{Client: server.Client()})
	if err != nil {
		t.Fatal(err)
	}
	if root, err := s.Root(t.Context(), nil); err != nil || string(root) != "订" || s.Location() != server.URL+"/spec" {
		t.Fatalf("%q, %v", root, err)
	}
	var codes []string
	for _, w := range s.Warnings() {
		codes = append(codes, w.Code)
	}
	if want := CodePage + " " + tree.CodeEncoding; strings.Join(codes, " ") != want {
		t.Errorf("codes %s, want %s", codes, want)
	}
}
