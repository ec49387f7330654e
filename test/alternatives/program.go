package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// program is one of those that are compared.
type program struct {
	name    string
	version func(context.Context) (string, error)
	// stdio returns the command that serves a document on standard input and output; what it prepares goes to dir.
	stdio func(ctx context.Context, dir, document, service string) (*exec.Cmd, error)
	serve func(document, service, port string) *exec.Cmd // by HTTP; nil if the calls of the program are not timed
}

// patience is how long a program may take for one document.
const patience = 2 * time.Minute

// output returns a function that runs a command and returns its first line.
func output(command string, args ...string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		out, err := exec.CommandContext(ctx, command, args...).Output()
		line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
		return line, err
	}
}

func drawbridge(path string) program {
	configuration := func(dir, document, service, server string) (string, error) {
		config := filepath.Join(dir, "drawbridge.yaml")
		text := fmt.Sprintf("server: {listen: '127.0.0.1:%s', page_size: 10000}\nadmin: {listen: '127.0.0.1:0'}\ntelemetry: {log_level: error}\ntools: {presentation: all}\napis: [{spec: %q, name: api, base_url: %q}]\n", server, document, service)
		return config, os.WriteFile(config, []byte(text), 0o600)
	}
	return program{
		name:    "drawbridge",
		version: output(path, "version"),
		stdio: func(_ context.Context, dir, document, service string) (*exec.Cmd, error) {
			config, err := configuration(dir, document, service, "0")
			return exec.Command(path, "stdio", "--config", config), err
		},
		serve: func(document, service, port string) *exec.Cmd {
			config, err := configuration(filepath.Dir(document), document, service, port)
			if err != nil {
				return nil
			}
			return exec.Command(path, "serve", "--config", config)
		},
	}
}

func fastMCP(python, server string) program {
	return program{
		name:    "FastMCP",
		version: output(python, "-c", "import fastmcp, platform; print(fastmcp.__version__, 'on Python', platform.python_version())"),
		stdio: func(_ context.Context, _, document, service string) (*exec.Cmd, error) {
			return exec.Command(python, server, document, service), nil
		},
		serve: func(document, service, port string) *exec.Cmd {
			return exec.Command(python, server, document, service, port)
		},
	}
}

// oneOperation is the document for calls.
const oneOperation = `{"openapi": "3.0.3", "info": {"title": "orders", "version": "1"}, "paths": {"/orders/{id}": {"get": {"operationId": "getOrder",
"parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "string"}}], "responses": {"200": {"description": "the order",
"content": {"application/json": {"schema": {"type": "object", "properties": {"id": {"type": "string"}, "note": {"type": "string"}}}}}}}}}}}`

// running is a program that serves.
type running struct {
	command *exec.Cmd
	dir     string
	url     string
	began   time.Duration // until the first list of tools
	idle    time.Duration // processor time of the start
	client  *http.Client
}

// begin starts a program with a copy of the document, or of oneOperation, and waits for a list of tools.
func begin(ctx context.Context, p program, document, service string) (*running, error) {
	dir, err := os.MkdirTemp("", "alternatives")
	if err != nil {
		return nil, err
	}
	text := []byte(oneOperation)
	if document != "" {
		if text, err = os.ReadFile(document); err != nil {
			return nil, err
		}
	}
	file := filepath.Join(dir, "openapi.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	_ = l.Close() // the program listens there
	r := &running{command: p.serve(file, service, port), dir: dir, url: "http://127.0.0.1:" + port + "/mcp", client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 100}, Timeout: time.Minute}}
	if r.command == nil {
		return nil, errors.New("its configuration can't be written")
	}
	r.command.Stderr = os.Stderr
	began := time.Now()
	if err := r.command.Start(); err != nil {
		return nil, err
	}
	for time.Since(began) < patience {
		body, err := r.post(ctx, "tools/list", "{}")
		if err == nil && bytes.Contains(body, []byte(`"inputSchema"`)) {
			r.began, r.idle = time.Since(began), r.processor()
			return r, nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	r.end()
	return nil, errors.New("no list of tools")
}

func (r *running) post(ctx context.Context, method, params string) ([]byte, error) {
	body := `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":` + params + `}`
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, r.url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	request.Header.Set("MCP-Protocol-Version", "2025-06-18")
	response, err := r.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	return io.ReadAll(response.Body)
}

// call sends calls from a number of clients at once and returns their times. An answer without the order is an error.
func (r *running) call(ctx context.Context, clients int, duration time.Duration) ([]time.Duration, error) {
	var (
		mu    sync.Mutex
		all   []time.Duration
		first error
		wg    sync.WaitGroup
	)
	end := time.Now().Add(duration)
	for range clients {
		wg.Go(func() {
			for time.Now().Before(end) {
				began := time.Now()
				body, err := r.post(ctx, "tools/call", `{"name":"getOrder","arguments":{"id":"1"}}`)
				if err == nil && !bytes.Contains(body, []byte(`xxxxxxxx`)) {
					err = fmt.Errorf("the answer is %.200s", body)
				}
				mu.Lock()
				all = append(all, time.Since(began))
				if err != nil && first == nil {
					first = err
				}
				mu.Unlock()
				if err != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	return all, first
}

// memory is what of the program is resident, in MiB.
func (r *running) memory() float64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", r.command.Process.Pid))
	if err != nil {
		return 0
	}
	_, after, _ := strings.Cut(string(text), "VmRSS:")
	kib, err := strconv.ParseFloat(strings.Fields(after + " 0")[0], 64)
	if err != nil {
		return 0
	}
	return kib / 1024
}

// processor is the processor time that the program has used so far, as Linux counts it: in hundredths of a second.
func (r *running) processor() time.Duration {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", r.command.Process.Pid))
	if err != nil {
		return 0
	}
	_, after, _ := strings.Cut(string(text), ") ")
	var total time.Duration
	for _, field := range strings.Fields(after)[11:13] { // utime and stime
		ticks, err := strconv.Atoi(field)
		if err != nil {
			return 0
		}
		total += time.Duration(ticks) * 10 * time.Millisecond
	}
	return total
}

// end ends the program and returns the processor time that it has used.
func (r *running) end() time.Duration {
	used := r.processor()
	_ = r.command.Process.Kill()
	_ = r.command.Wait() // it was killed
	r.client.CloseIdleConnections()
	_ = os.RemoveAll(r.dir)
	return used
}
