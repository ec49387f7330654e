package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"drawbridge/cmd/drawbridge/demo"
)

// service is the sample service of the demo, with a document and an operation that are held back until release.
type service struct {
	server  *httptest.Server
	arrived chan struct{} // one entry for each call of /slow
	free    chan struct{} // closed by release
	once    sync.Once
	calls   sync.WaitGroup
}

// slowDocument describes the operation that is held back.
const slowDocument = `openapi: 3.1.0
info: {title: Slow, version: '1'}
servers: [{url: SERVICE}]
paths: {/slow: {get: {operationId: wait, summary: Wait, responses: {'200': {description: ok}}}}}
`

func startService() *service {
	s := &service{arrived: make(chan struct{}, 8), free: make(chan struct{})}
	mux := http.NewServeMux()
	mux.Handle("/", demo.NewService(nil))
	document := func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "application/yaml")
		_, _ = io.WriteString(w, strings.ReplaceAll(slowDocument, "SERVICE", s.url()))
	}
	mux.HandleFunc("/quick.yaml", func(w http.ResponseWriter, _ *http.Request) { document(w) })
	mux.HandleFunc("/slow.yaml", func(w http.ResponseWriter, r *http.Request) {
		s.hold(r)
		document(w)
	})
	mux.HandleFunc("/slow", func(w http.ResponseWriter, r *http.Request) {
		s.arrived <- struct{}{}
		s.hold(r)
		_, _ = io.WriteString(w, `{}`)
	})
	s.server = httptest.NewServer(mux)
	return s
}

func (s *service) url() string { return s.server.URL }

// hold waits for release, or for the client to go.
func (s *service) hold(r *http.Request) {
	select {
	case <-s.free:
	case <-r.Context().Done():
	}
}

func (s *service) release() { s.once.Do(func() { close(s.free) }) }

func (s *service) close() {
	s.release()
	s.calls.Wait()
	s.server.Close()
}

// call calls a tool, and returns when the service has got the call.
func (s *service) call(url, tool string) error {
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": tool, "arguments": map[string]any{}}})
	if err != nil {
		return err
	}
	var arrived atomic.Bool
	s.calls.Go(func() {
		// A gateway that starts refuses connections, and then calls.
		for begin := time.Now(); !arrived.Load() && time.Since(begin) < limit; time.Sleep(poll) {
			post(url, body)
		}
	})
	select {
	case <-s.arrived:
		arrived.Store(true)
		return nil
	case <-time.After(limit):
		return errors.New("the service did not get the call")
	}
}

// post sends a message and reads the answer. That there is none is no failure: the gateway may be ended by the session.
func post(url string, body []byte) {
	r, err := http.NewRequest(http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("MCP-Protocol-Version", "2025-11-25")
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(r)
	if err != nil {
		return
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
}
