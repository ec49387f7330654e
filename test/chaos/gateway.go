package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"drawbridge/test/openload"
	"drawbridge/test/process"
)

// adminToken is what POST /reload asks for.
const adminToken = "the-token-of-the-operator"

// setup is what a gateway is to serve. Values are YAML.
type setup struct {
	apis   string // the list
	server string // keys of it besides the address, each with a comma before it
	rates  string // keys of limits; "": there are none
	limits string // keys of it besides rates, each with a comma before it
	more   string // further lines
	level  string // of the log; "": error
	// environment is for the program, NAME=value.
	environment []string
	// addresses are host and admin; nil: free ones.
	addresses []string
}

// gateway is a running gateway.
type gateway struct {
	child       *process.Child
	host, admin string
	file        string // its configuration
}

// write puts a file into the figure's folder and returns its path.
func (s *suite) write(name, text string) (string, error) {
	path := filepath.Join(s.dir, name)
	return path, os.WriteFile(path, []byte(text), 0o600)
}

// start starts a gateway and returns at once. The program is ended by stop, or with ctx.
func (s *suite) start(ctx context.Context, u setup) (*gateway, error) {
	return s.startProgram(ctx, s.program, u)
}

func (s *suite) startProgram(ctx context.Context, program string, u setup) (*gateway, error) {
	g := &gateway{}
	if u.addresses == nil {
		for range 2 {
			a, err := process.FreeAddress()
			if err != nil {
				return nil, err
			}
			u.addresses = append(u.addresses, a)
		}
	}
	g.host, g.admin = u.addresses[0], u.addresses[1]
	if u.level == "" {
		u.level = "error"
	}
	if u.rates == "" {
		u.rates = "principal_rate: off, address_rate: off"
	}
	if !strings.Contains(u.server, "shutdown_delay") {
		u.server += ", shutdown_delay: 0s, drain_timeout: 5s"
	}
	var err error
	g.file, err = s.write("gateway-"+strings.ReplaceAll(g.host, ":", "-")+".yaml", fmt.Sprintf(`server: {listen: %q%s}
admin: {listen: %q, token: "${ADMIN_TOKEN:-%s}"}
apis: %s
tools: {presentation: all}
limits: {%s, max_result_tokens: 0%s}
telemetry: {log_level: %s}
%s`, g.host, u.server, g.admin, adminToken, u.apis, u.rates, u.limits, u.level, u.more))
	if err != nil {
		return nil, err
	}
	args := []string{"serve", "--config", g.file}
	if len(u.environment) > 0 { // env becomes the program, so the process is the same
		args = append(append(append([]string{}, u.environment...), program), args...)
		program = "env"
	}
	if g.child, err = process.Start(ctx, program, args...); err != nil {
		return nil, err
	}
	return g, nil
}

// ready waits until the gateway serves.
func (g *gateway) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	return g.child.AwaitGateway(ctx, g.admin)
}

// serve starts a gateway and waits until it serves.
func (s *suite) serve(ctx context.Context, u setup) (*gateway, error) {
	g, err := s.start(ctx, u)
	if err != nil {
		return nil, err
	}
	if err := g.ready(ctx); err != nil {
		return nil, errors.Join(err, g.child.Stop())
	}
	return g, nil
}

// serveThings serves things as the one API, from a host, with further keys of the API that each begin with a comma.
func (s *suite) serveThings(ctx context.Context, host, keys string, u setup) (*gateway, error) {
	spec, err := s.write("things.json", things)
	if err != nil {
		return nil, err
	}
	u.apis = fmt.Sprintf("[{spec: %q, name: things, base_url: %q%s}]", spec, "http://"+host, keys)
	return s.serve(ctx, u)
}

// stopInto ends a gateway and adds what went wrong to the error of the caller.
func (g *gateway) stopInto(err *error) {
	*err = errors.Join(*err, g.child.Stop())
}

// reload makes the gateway read all anew.
func (g *gateway) reload(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+g.admin+"/reload", nil)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+adminToken)
	resp, err := (&http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode >= 300 {
		return errors.New("/reload: " + resp.Status)
	}
	return nil
}

// service is an upstream service of this process.
type service struct {
	server *http.Server
	host   string
	ended  chan struct{}

	mu   sync.Mutex
	idle map[net.Conn]bool // of the open connections: whether nothing runs on it
}

// newService serves a handler on a loopback address.
func newService(h http.HandlerFunc) (*service, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &service{host: l.Addr().String(), ended: make(chan struct{}), idle: map[net.Conn]bool{}}
	s.server = &http.Server{Handler: h, ReadHeaderTimeout: 30 * time.Second, ConnState: func(c net.Conn, state http.ConnState) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if state == http.StateClosed || state == http.StateHijacked {
			delete(s.idle, c)
			return
		}
		s.idle[c] = state != http.StateActive
	}}
	go func() {
		defer close(s.ended)
		_ = s.server.Serve(l) // it ends with close
	}()
	return s, nil
}

// rest closes the connections on which nothing runs, also those that were never used, until there are none: what a client keeps
// of them is gone then. It is an error if something runs on one for two seconds more.
func (s *service) rest(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	for {
		s.mu.Lock()
		open := len(s.idle)
		for c, idle := range s.idle {
			if idle {
				_ = c.Close()
			}
		}
		s.mu.Unlock()
		if open == 0 {
			return nil
		}
		if !openload.Pause(ctx, 10*time.Millisecond) {
			return fmt.Errorf("%d connections of a service don't come to rest: %w", open, ctx.Err())
		}
	}
}

func (s *service) close() {
	_ = s.server.Close()
	<-s.ended
}

// straight calls a service itself, and returns its answer.
func straight(ctx context.Context, client *http.Client, host string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+host+"/things/a", nil)
	if err != nil {
		return "", err
	}
	resp, err := client.Do(req)
	if err != nil {
		return "", err
	}
	answer, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = errors.New("the service itself answers " + resp.Status)
	}
	return string(answer), errors.Join(err, resp.Body.Close())
}

// answerJSON writes an answer of that status and size.
func answerJSON(w http.ResponseWriter, body string) {
	w.Header()["Content-Type"] = []string{"application/json"}
	_, _ = w.Write([]byte(body))
}

// things is a document with GET /things/{id}, as the tool get_thing, and POST of the same, as make_thing.
const things = `{"openapi":"3.1.0","info":{"title":"Things","version":"1"},"paths":{"/things/{id}":{
"parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"string"}}],
"get":{"operationId":"get_thing","responses":{"200":{"description":"ok"}}},
"post":{"operationId":"make_thing","responses":{"200":{"description":"ok"}}}}}}`
