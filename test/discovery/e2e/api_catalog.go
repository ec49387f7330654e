package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"sync"
	"time"
)

// catalogRegistry shows an API catalog (RFC 9727), as a static server would.
type catalogRegistry struct {
	server  *http.Server
	address string

	mu       sync.Mutex
	services map[string]*service
}

func newCatalogRegistry(context.Context, *options, string) (registry, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &catalogRegistry{address: l.Addr().String(), services: map[string]*service{}}
	r.serve(l)
	return r, nil
}

func (r *catalogRegistry) serve(l net.Listener) {
	r.server = &http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.URL.Path != "/.well-known/api-catalog" {
			http.NotFound(w, req)
			return
		}
		w.Header().Set("Content-Type", `application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"`)
		_, _ = w.Write(r.text())
	})}
	go r.server.Serve(l) //nolint:errcheck // ends with the program
}

// text is the link set: a service is an API at a path with its name.
func (r *catalogRegistry) text() []byte {
	type object = map[string]any
	r.mu.Lock()
	defer r.mu.Unlock()
	contexts := []object{}
	for name, s := range r.services {
		at := "http://" + s.address
		contexts = append(contexts, object{"anchor": at + "/" + name, "service-desc": []object{{"href": at + s.path(), "type": "application/json"}}})
	}
	text, _ := json.Marshal(object{"linkset": contexts}) // strings can be written
	return text
}

func (r *catalogRegistry) provider() string {
	return fmt.Sprintf("api_catalog: {url: %q, refresh: 1s}", "http://"+r.address)
}

func (r *catalogRegistry) set(_ context.Context, services map[string]*service) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.Copy(r.services, services)
	maps.DeleteFunc(r.services, func(_ string, s *service) bool { return s == nil })
	return nil
}

func (r *catalogRegistry) down() error { return r.server.Close() }

func (r *catalogRegistry) up(context.Context) error {
	l, err := net.Listen("tcp", r.address)
	if err != nil {
		return err
	}
	r.serve(l)
	return nil
}

func (r *catalogRegistry) stop() { r.server.Close() }
