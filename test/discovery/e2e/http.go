package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"
)

// httpRegistry shows target groups at a URL, as http_sd. The gateway asks it every second.
type httpRegistry struct {
	targets
	server  *http.Server
	address string
}

func newHTTPRegistry(context.Context, *options, string) (registry, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &httpRegistry{address: l.Addr().String()}
	r.serve(l)
	return r, nil
}

func (r *httpRegistry) serve(l net.Listener) {
	r.server = &http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(r.text())
	})}
	go r.server.Serve(l) //nolint:errcheck // ends with the program
}

func (r *httpRegistry) provider() string {
	return fmt.Sprintf("http: {url: %q, refresh: 1s}", "http://"+r.address+"/targets")
}

func (r *httpRegistry) set(_ context.Context, services map[string]*service) error {
	r.change(services)
	return nil
}

func (r *httpRegistry) down() error { return r.server.Close() }

func (r *httpRegistry) up(context.Context) error {
	l, err := net.Listen("tcp", r.address)
	if err != nil {
		return err
	}
	r.serve(l)
	return nil
}

func (r *httpRegistry) stop() { r.server.Close() }
