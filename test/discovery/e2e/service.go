package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// service is one service of this process.
type service struct {
	name     string
	server   *http.Server
	address  string // host:port
	document atomic.Pointer[document]
	calls    atomic.Int64
}

// document is an OpenAPI document at a path of its service.
type document struct{ path, text string }

func newService(ip, name string, operations int) (*service, error) {
	l, err := net.Listen("tcp", net.JoinHostPort(ip, "0"))
	if err != nil {
		return nil, err
	}
	s := &service{name: name, address: l.Addr().String()}
	s.describe("/openapi.json", operations)
	s.server = &http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if d := s.document.Load(); r.URL.Path == d.path {
			fmt.Fprint(w, d.text)
			return
		}
		s.calls.Add(1)
		fmt.Fprintf(w, `{"by": %q}`, s.name)
	})}
	go s.server.Serve(l) //nolint:errcheck // ends with the program
	return s, nil
}

// path is the path of the document.
func (s *service) path() string { return s.document.Load().path }

// port is the port of the address.
func (s *service) port() int {
	_, text, _ := net.SplitHostPort(s.address)
	port, _ := strconv.Atoi(text) // the address is that of a listener
	return port
}

// awaitCalls returns how long it takes until calls of a tool reach the service.
func (s *service) awaitCalls(ctx context.Context, g *gateway, tool string) (time.Duration, error) {
	began := time.Now()
	for before := s.calls.Load(); s.calls.Load() == before; {
		if err := g.call(ctx, tool); err != nil {
			return 0, err
		}
		if time.Since(began) > time.Minute {
			return 0, fmt.Errorf("after a minute no call of %s reaches %s", tool, s.address)
		}
		time.Sleep(5 * time.Millisecond)
	}
	return time.Since(began), nil
}

// describe sets the document.
func (s *service) describe(path string, operations int) {
	var b strings.Builder
	fmt.Fprintf(&b, `{"openapi": "3.0.3", "info": {"title": %q, "version": "1"}, "paths": {`, s.name)
	for i := range operations {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, `"/op%d": {"get": {"operationId": "op%[1]d", "summary": "Operation %[1]d of %s", "parameters": [{"name": "q", "in": "query", "schema": {"type": "string"}}],
			"responses": {"200": {"description": "ok", "content": {"application/json": {"schema": {"type": "object", "properties": {"by": {"type": "string"}}}}}}}}}`, i, s.name)
	}
	b.WriteString("}}")
	s.document.Store(&document{path, b.String()})
}
