package gateway_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"drawbridge/gateway/admin"
	"drawbridge/test/gatewaytest"
)

// TestFourOfTenBad: of ten documents one can't be had, one never comes, one is a bomb and one a page; the six others are served
// within a second (O1), and readiness waits for all of them only where that is asked for.
func TestFourOfTenBad(t *testing.T) {
	var bomb strings.Builder // of aliases, 10^9 values
	bomb.WriteString("openapi: 3.1.0\nx0: &x0 [lol, lol, lol, lol, lol, lol, lol, lol, lol, lol]\n")
	for n := 1; n < 9; n++ {
		fmt.Fprintf(&bomb, "x%d: &x%d [%s]\n", n, n, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*x%d, ", n-1), 10), ", "))
	}
	bomb.WriteString("info: {title: B, version: '1'}\npaths: {}\n")
	var packed bytes.Buffer // a megabyte of nothing
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(make([]byte, 1<<20)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	release := make(chan struct{})
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/hang":
			select {
			case <-release:
			case <-r.Context().Done():
			}
		case "/bomb":
			_, _ = w.Write([]byte(bomb.String()))
		case "/inflated":
			w.Header().Set("Content-Encoding", "gzip")
			for range 1 << 8 { // four times what a document may have; gzip's members one after the other are one stream
				if _, err := w.Write(packed.Bytes()); err != nil {
					return
				}
			}
		case "/page":
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte("<!DOCTYPE html><title>Sign in</title>"))
		default:
			_, _ = w.Write([]byte(gatewaytest.Document("Good", gatewaytest.Operations(5)...)))
		}
	}))
	defer service.Close()
	defer close(release)
	down := httptest.NewServer(http.NotFoundHandler())
	down.Close()
	for _, tt := range []struct {
		ready string
		want  bool
	}{{"any", true}, {"all", false}} {
		var cfg strings.Builder
		fmt.Fprintf(&cfg, "server: {ready: %s}\nlimits: {first_byte_timeout: 1h}\napis:\n  - {spec: '%s/x', name: dead}\n", tt.ready, down.URL)
		for _, bad := range []string{"hang", "bomb", "page", "inflated"} {
			fmt.Fprintf(&cfg, "  - {spec: '%s/%s', name: %s}\n", service.URL, bad, bad)
		}
		for n := range 6 {
			fmt.Fprintf(&cfg, "  - {spec: '%s/good%d', name: good%d}\n", service.URL, n, n)
		}
		begin := time.Now()
		p := started(t, cfg.String())
		p.Eventually("the good ones are served", func() bool { return p.Status().Tools == 30 })
		if took := time.Since(begin); took > 10*time.Second { // far below the time that one document may take; test/chaos measures it
			t.Errorf("served after %v", took)
		}
		if got := p.Status().Ready; got != tt.want {
			t.Errorf("server.ready %s: ready %v, want %v", tt.ready, got, tt.want)
		}
		p.Eventually("what is bad is known", func() bool {
			return p.State(0).State == admin.Failed && p.State(2).State == admin.Failed && p.State(3).State == admin.Failed && p.State(4).State == admin.Failed
		})
		if s := p.State(1); s.State != admin.Loading {
			t.Errorf("the one that hangs: %+v", s)
		}
		p.end()
	}
}

// TestReadyStays: a gateway that was ready is not unready again because of one API (O6).
func TestReadyStays(t *testing.T) {
	o := gatewaytest.NewChanging(t, gatewaytest.Document("A", "one"))
	cfg := "server: {ready: all}\napis: [{spec: '" + o.URL + "/a.yaml', name: a}%s]\n"
	p := started(t, fmt.Sprintf(cfg, ""))
	p.Eventually("it is ready", func() bool { return p.Status().Ready })
	p.Write(map[string]string{"drawbridge.yaml": fmt.Sprintf(cfg, ", {spec: none.yaml, name: b}")})
	if err := p.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !p.Status().Ready || p.State(1).State != admin.Failed {
		t.Errorf("status = %+v", p.Status())
	}
}

// TestReadyTried: with server.ready: tried a gateway waits for the first attempt of each document, and not for its success (O6).
func TestReadyTried(t *testing.T) {
	release := make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
		w.WriteHeader(http.StatusNotFound)
	}))
	defer slow.Close()
	o := gatewaytest.NewChanging(t, gatewaytest.Document("A", "one"))
	p := started(t, "server: {ready: tried}\napis: [{spec: '"+o.URL+"/a.yaml', name: a}, {spec: '"+slow.URL+"/b.yaml', name: b}]\n")
	p.Eventually("one is served", func() bool { return p.Status().Tools == 1 })
	if p.Status().Ready {
		t.Error("it is ready before the other was tried")
	}
	close(release)
	p.Eventually("it is ready with one that can't be read", func() bool { return p.Status().Ready })
	if s := p.State(1); s.State != admin.Failed {
		t.Errorf("the other: %+v", s)
	}
}
