package gatewaytest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// Shelf serves files from memory and notes who asked for them: "path authorization".
type Shelf struct {
	*httptest.Server
	Mu    sync.Mutex
	Files map[string]string
	Asked []string
}

// NewShelf serves files, which can change.
func NewShelf(t *testing.T, files map[string]string) *Shelf {
	t.Helper()
	s := &Shelf{Files: files}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *Shelf) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.Asked = append(s.Asked, strings.TrimSpace(r.URL.Path+" "+r.Header.Get("Authorization")+r.Header.Get("X-Key")))
	body, ok := s.Files[r.URL.Path]
	if to, moved := strings.CutPrefix(body, "moved "); moved {
		http.Redirect(w, r, to, http.StatusFound)
		return
	}
	tag := fmt.Sprintf(`"%x"`, body)
	switch {
	case !ok:
		http.NotFound(w, r)
	case r.Header.Get("If-None-Match") == tag:
		w.WriteHeader(http.StatusNotModified)
	default:
		w.Header().Set("ETag", tag)
		_, _ = io.WriteString(w, body)
	}
}

// Put adds or replaces a file.
func (s *Shelf) Put(name, text string) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.Files[name] = text
}

// Taken returns what was asked for since the last call.
func (s *Shelf) Taken() []string {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	asked := s.Asked
	s.Asked = nil
	return asked
}
