package main

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// service is one service on loopback, with its document at /openapi.json.
type service struct {
	name     string
	server   *http.Server
	address  string
	document atomic.Pointer[string]
}

func newService(name string, operations int) (*service, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &service{name: name, address: l.Addr().String()}
	s.describe(operations)
	s.server = &http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/openapi.json" {
			fmt.Fprint(w, *s.document.Load())
			return
		}
		fmt.Fprintf(w, `{"by": %q}`, s.name)
	})}
	go s.server.Serve(l) //nolint:errcheck // ends with the program
	return s, nil
}

// describe sets the document.
func (s *service) describe(operations int) {
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
	text := b.String()
	s.document.Store(&text)
}

// registry has services and shows them as target groups: by HTTP, or in a file.
type registry struct {
	file string // "" for http_sd

	mu       sync.Mutex
	services map[string]*service
	server   *http.Server
	address  string
}

func newRegistry(dir, kind string) (*registry, error) {
	r := &registry{services: map[string]*service{}}
	if kind == "file" {
		r.file = filepath.Join(dir, "targets.json")
		return r, r.show()
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r.address = l.Addr().String()
	r.serve(l)
	return r, nil
}

func (r *registry) serve(l net.Listener) {
	r.server = &http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(r.groups())
	})}
	go r.server.Serve(l) //nolint:errcheck // ends with the program
}

// down stops the registry; with files, what it shows is half a list.
func (r *registry) down() error {
	if r.file != "" {
		return os.WriteFile(r.file, []byte(`[{"targets": [`), 0o600)
	}
	return r.server.Close()
}

func (r *registry) up() error {
	if r.file != "" {
		return r.show()
	}
	l, err := net.Listen("tcp", r.address)
	if err != nil {
		return err
	}
	r.serve(l)
	return nil
}

// set adds, replaces or, with nil, removes a service, and shows the list.
func (r *registry) set(name string, s *service) error {
	r.mu.Lock()
	if s == nil {
		delete(r.services, name)
	} else {
		r.services[name] = s
	}
	r.mu.Unlock()
	return r.show()
}

func (r *registry) show() error {
	if r.file == "" {
		return nil
	}
	temp := r.file + ".new"
	if err := os.WriteFile(temp, r.groups(), 0o600); err != nil {
		return err
	}
	return os.Rename(temp, r.file)
}

func (r *registry) groups() []byte {
	type group struct {
		Targets []string          `json:"targets"`
		Labels  map[string]string `json:"labels"`
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	groups := make([]group, 0, len(r.services))
	for name, s := range r.services {
		groups = append(groups, group{[]string{s.address}, map[string]string{"service": name, "openapi": "/openapi.json"}})
	}
	text, _ := json.Marshal(groups) // strings can be written
	return text
}

// config is the configuration of the gateway under test.
func (r *registry) config(listen, admin string) string {
	provider := fmt.Sprintf("http: {url: %q, refresh: 1s}", "http://"+r.address+"/targets")
	if r.file != "" {
		provider = fmt.Sprintf("file: {paths: [%q]}", r.file)
	}
	return fmt.Sprintf(`server: {listen: %q}
admin: {listen: %q}
limits: {address_rate: {rate: 100000/s, burst: 100000}, principal_rate: {rate: 100000/s, burst: 100000}}
discovery:
  - {name: shop, %s, approve: auto, allow_addresses: [127.0.0.0/8]}
`, listen, admin, provider)
}
