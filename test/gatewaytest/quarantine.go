package gatewaytest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
)

// Changing serves a document that tests change, or nothing.
type Changing struct {
	*httptest.Server
	Text atomic.Pointer[string]
}

// NewChanging serves a document that can change.
func NewChanging(t *testing.T, text string) *Changing {
	t.Helper()
	o := &Changing{}
	o.Set(text)
	o.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		text := *o.Text.Load()
		if text == "" {
			http.Error(w, "down", http.StatusBadGateway)
			return
		}
		_, _ = w.Write([]byte(text))
	}))
	t.Cleanup(o.Close)
	return o
}

// Set replaces the document.
func (o *Changing) Set(text string) { o.Text.Store(&text) }

// Operations returns n names.
func Operations(n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprintf("op%02d", i))
	}
	return names
}
