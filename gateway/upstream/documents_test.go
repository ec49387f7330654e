package upstream

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestDocuments is S1: redirects within the origin, the larger limit, decoding.
func TestDocuments(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "other") }))
	defer other.Close()
	mux := http.NewServeMux()
	mux.HandleFunc("/hop/{n}", func(w http.ResponseWriter, r *http.Request) {
		n := strings.Count(r.PathValue("n"), "x")
		if n == 0 {
			fmt.Fprint(w, "arrived")
			return
		}
		http.Redirect(w, r, "/hop/"+strings.Repeat("x", n-1)+"-", http.StatusFound)
	})
	mux.HandleFunc("/other", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other.URL, http.StatusFound) })
	mux.HandleFunc("/gzip", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("ETag", `"1"`)
		w.Write(compress(t, "gzip", []byte("openapi: 3.1.0")))
	})
	mux.HandleFunc("/large", func(w http.ResponseWriter, _ *http.Request) { w.Write(bytes.Repeat([]byte("x"), 20<<20)) })
	mux.HandleFunc("/huge", func(w http.ResponseWriter, _ *http.Request) {
		for range 65 {
			w.Write(make([]byte, 1<<20))
		}
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	base := parse(t, server.URL)
	client := newClient(Options{Name: "orders", BaseURL: base, MaxBytes: 64 << 20})
	defer client.Close()
	for _, c := range []struct{ path, want string }{
		{"/hop/-", "200 arrived"},
		{"/hop/xxx", "200 arrived"},
		{"/hop/xxxx", `Get "/hop/-": more than 3 redirects`},
		{"/other", fmt.Sprintf("Get %q: redirect to another origin", other.URL)},
		{"/gzip", "200 openapi: 3.1.0"},
		{"/large", "200 20971520 bytes"},
		{"/huge", `call API "orders": too_large: answer of more than 67108864 bytes`},
		{"/absent", "404 404 page not found\n"},
	} {
		t.Run(c.path, func(t *testing.T) {
			req := get(t, parse(t, server.URL+c.path))
			resp, err := client.Documents().Do(req)
			var data []byte
			if err == nil {
				data, err = io.ReadAll(resp.Body)
				resp.Body.Close()
			}
			got := fmt.Sprint(err)
			if err == nil {
				got = fmt.Sprintf("%d %s", resp.StatusCode, data)
				if len(data) > 100 {
					got = fmt.Sprintf("%d %d bytes", resp.StatusCode, len(data))
				}
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if len(req.Header) != 0 {
				t.Errorf("the request was changed: %v", req.Header)
			}
		})
	}
}

// TestDocumentHead: a service that makes its document anew for each request may take all the time that there is for it until the first byte.
func TestDocumentHead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &pipes{made: make(chan net.Conn), closed: make(chan struct{})}
		service := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			time.Sleep(18 * time.Second)
			_, _ = io.WriteString(w, "openapi: 3.1.0")
		})}
		served := make(chan struct{})
		go func() {
			defer close(served)
			_ = service.Serve(l)
		}()
		client := newClient(Options{Name: "orders", BaseURL: parse(t, "http://example.com"), FirstByte: 15 * time.Second, Timeout: 25 * time.Second, dial: l.dial})
		resp, err := client.Documents().Do(get(t, parse(t, "http://example.com")))
		if got := told(resp, err); got != "200 \"openapi: 3.1.0\"\n" {
			t.Error(got)
		}
		client.Close()
		service.Close()
		<-served
	})
}
