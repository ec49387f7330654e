package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
)

// relay stands between the gateway and Prism and keeps the last exchange. It changes nothing of it.
type relay struct {
	*httptest.Server
	target string // host:port
	client http.RoundTripper

	mu   sync.Mutex
	last *exchange
}

// exchange is one request with its answer.
type exchange struct {
	request string // its first line and the beginning of its body
	sent    http.Header
	status  int
	header  http.Header
	body    []byte
	unsaid  string // the body of an answer to HEAD
	err     error
}

func newRelay(address string) *relay {
	r := &relay{target: strings.TrimPrefix(address, "http://"), client: &http.Transport{MaxIdleConns: 4}}
	r.Server = httptest.NewServer(r)
	return r
}

// take returns the last exchange and forgets it.
func (r *relay) take() *exchange {
	r.mu.Lock()
	defer r.mu.Unlock()
	last := r.last
	r.last = nil
	return last
}

func (r *relay) ServeHTTP(w http.ResponseWriter, in *http.Request) {
	x := r.pass(in)
	r.mu.Lock()
	r.last = x
	r.mu.Unlock()
	if x.err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	for name, values := range x.header {
		if name != "Connection" && name != "Keep-Alive" && name != "Transfer-Encoding" {
			w.Header()[name] = values
		}
	}
	w.WriteHeader(x.status)
	_, _ = w.Write(x.body)
}

func (r *relay) pass(in *http.Request) *exchange {
	body, err := io.ReadAll(in.Body)
	x := &exchange{err: err, sent: in.Header, request: fmt.Sprintf("%s %s %s %.4000q", in.Method, in.RequestURI, in.Header.Get("Content-Type"), body)}
	if err != nil {
		return x
	}
	out := in.Clone(in.Context())
	out.URL.Scheme, out.URL.Host = "http", r.target
	out.URL.Opaque = "" // RequestURI is written from the escaped path as it came
	out.RequestURI = ""
	out.Body, out.ContentLength = http.NoBody, 0
	if len(body) > 0 {
		out.Body, out.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	}
	resp, err := r.client.RoundTrip(out)
	if err != nil {
		x.err = err
		return x
	}
	defer resp.Body.Close()
	x.status, x.header = resp.StatusCode, resp.Header
	if x.body, x.err = io.ReadAll(resp.Body); x.err == nil && len(x.body) == 0 {
		x.unsaid, x.err = url.QueryUnescape(resp.Header.Get("X-Unsaid"))
	}
	return x
}
