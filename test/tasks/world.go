package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"drawbridge/test/process"
)

// world is the services with the gateway in front of them.
type world struct {
	dir        string
	services   map[string]*service
	gateway    *process.Child
	endpoint   string
	operations map[string]operation // by "API METHOD PATH"
}

// operation is a tool of the gateway.
type operation struct {
	tool     string
	readOnly bool
}

// newWorld starts the services. The context is how long they last.
func newWorld(ctx context.Context, s *settings) (w *world, err error) {
	w = &world{services: map[string]*service{}}
	defer func() {
		if err != nil {
			w.close()
		}
	}()
	if w.dir, err = os.MkdirTemp("", "tasks"); err != nil {
		return w, err
	}
	for _, name := range []string{"prefect", "mailpit", "outbox", "jupyter", "alertmanager"} {
		address, err := process.FreeAddress()
		if err != nil {
			return w, err
		}
		w.services[name] = &service{name: name, url: "http://" + address}
		if err := os.Mkdir(filepath.Join(w.dir, name), 0o700); err != nil {
			return w, err
		}
	}
	var g errgroup.Group
	begin := func(name string, start func(ctx context.Context, programs, dir string, s *service) error) {
		g.Go(func() error { return start(ctx, s.programs, filepath.Join(w.dir, name), w.services[name]) })
	}
	begin("prefect", prefect)
	begin("jupyter", jupyter)
	begin("alertmanager", alertmanager)
	begin("mailpit", func(ctx context.Context, programs, dir string, s *service) error {
		return mailpit(ctx, programs, dir, s, w.services["outbox"])
	})
	if err := g.Wait(); err != nil {
		return w, err
	}
	return w, nil
}

// startGateway starts the gateway with a configuration instead of the one before, and waits until all documents are read.
func (w *world) startGateway(ctx context.Context, s *settings, c configuration) error {
	if w.gateway != nil {
		_ = w.gateway.Stop() // what it says at its end is of no interest
		w.gateway = nil
	}
	listen, err := process.FreeAddress()
	if err != nil {
		return err
	}
	admin, err := process.FreeAddress()
	if err != nil {
		return err
	}
	file, err := w.configure(s, c, fmt.Sprintf("server: {listen: %q, shutdown_delay: 0s, drain_timeout: 1s}\nadmin: {listen: %q}\n", listen, admin))
	if err != nil {
		return err
	}
	if w.gateway, err = process.Start(ctx, s.gateway, "serve", "--config", file); err != nil {
		return err
	}
	ready, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	if err := w.gateway.AwaitGateway(ready, admin); err != nil {
		return err
	}
	w.endpoint = "http://" + listen + "/mcp"
	out, err := output(ctx, s.gateway, "tools", "--json", "--config", file)
	if err != nil {
		return err
	}
	return w.readOperations(out)
}

// output returns what a command of the gateway prints.
func output(ctx context.Context, gateway string, args ...string) ([]byte, error) {
	var stderr bytes.Buffer
	c := exec.CommandContext(ctx, gateway, args...)
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w\n%s", gateway, args[0], err, stderr.Bytes())
	}
	return out, nil
}

// readOperations reads the list of tools that the gateway's command prints.
func (w *world) readOperations(list []byte) error {
	var result struct {
		Tools []struct {
			Name        string
			Annotations struct{ ReadOnlyHint bool }
			Meta        struct {
				Operation struct{ API, Method, Path string } `json:"drawbridge/operation"`
			} `json:"_meta"`
		}
	}
	if err := json.Unmarshal(list, &result); err != nil {
		return fmt.Errorf("the list of tools: %w", err)
	}
	w.operations = map[string]operation{}
	for _, tool := range result.Tools {
		o := tool.Meta.Operation
		w.operations[strings.Join([]string{o.API, o.Method, o.Path}, " ")] = operation{tool: tool.Name, readOnly: tool.Annotations.ReadOnlyHint}
	}
	if len(w.operations) == 0 {
		return errors.New("the list of tools is empty")
	}
	return nil
}

// prepare resets all services and sends what the task needs to be there. It returns what the requests have kept.
func (w *world) prepare(ctx context.Context, t *task) (values, error) {
	var g errgroup.Group
	for _, s := range w.services {
		g.Go(func() error {
			if err := s.reset(ctx); err != nil {
				return fmt.Errorf("reset %s: %w", s.name, err)
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	v := values{}
	for _, r := range t.setup {
		for n := range max(1, r.Times) {
			v["n"] = n + 1
			if _, err := w.send(ctx, r, v); err != nil {
				return nil, fmt.Errorf("prepare %s: %w", t.name, err)
			}
		}
	}
	return v, nil
}

// send sends a request to a service, keeps of its answer, and returns the answer.
func (w *world) send(ctx context.Context, r request, v values) (string, error) {
	s, ok := w.services[r.Service]
	if !ok {
		return "", fmt.Errorf("there is no service %q", r.Service)
	}
	path, err := v.text(r.Path)
	if err != nil {
		return "", err
	}
	body, err := v.expand(r.Body)
	if err != nil {
		return "", err
	}
	answer, err := s.send(ctx, r.Method, path, body)
	if err != nil {
		return "", err
	}
	return answer, v.keep(r.Keep, answer)
}

// close stops everything.
func (w *world) close() {
	stop := func(c *process.Child) {
		if c != nil {
			_ = c.Stop() // what it says at its end is of no interest
		}
	}
	stop(w.gateway)
	var g errgroup.Group
	for _, s := range w.services {
		g.Go(func() error { stop(s.child); return nil })
	}
	_ = g.Wait() // stop returns nothing
	_ = os.RemoveAll(w.dir)
}
