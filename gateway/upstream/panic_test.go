package upstream

import (
	"crypto/tls"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// TestPanicWhileDialling: net/http dials in goroutines of its own, where a panic would end the process.
func TestPanicWhileDialling(t *testing.T) {
	service := httptest.NewTLSServer(http.NotFoundHandler())
	defer service.Close()
	base, err := url.Parse(service.URL)
	if err != nil {
		t.Fatal(err)
	}
	c := newClient(Options{Name: "shop", BaseURL: base, TLS: func(*tls.Config, string) (*tls.Config, error) { panic("injected") }})
	defer c.Close()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, service.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Do(req)
	var e *Error
	if !errors.As(err, &e) || e.Kind != Connect || !strings.Contains(e.Error(), "panic: injected") || strings.Contains(e.ToolMessage(), "injected") {
		t.Errorf("Do = %v", err)
	}
}
