package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"drawbridge/test/process"
)

const adminToken = "the-token-of-the-operator"

// world is a gateway with what stands around it.
type world struct {
	settings
	dir         string
	service     *httptest.Server
	gateway     *process.Child
	host, admin string // addresses

	written, taken atomic.Int64 // the newest version of the document in its file, and of which the gateway says that it serves it
}

func newWorld(ctx context.Context, s settings) (w *world, err error) {
	w = &world{settings: s}
	defer func() {
		if err != nil {
			_ = w.close()
		}
	}()
	if w.dir, err = os.MkdirTemp("", "streams"); err != nil {
		return nil, err
	}
	if w.host, err = process.FreeAddress(); err != nil {
		return nil, err
	}
	if w.admin, err = process.FreeAddress(); err != nil {
		return nil, err
	}
	w.service = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(rw, `{"asked":%q}`, r.RequestURI)
	}))
	if err := w.write(); err != nil {
		return nil, err
	}
	if w.gateway, err = process.Start(ctx, s.program, "serve", "--config", filepath.Join(w.dir, configFile)); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	return w, w.gateway.AwaitGateway(ctx, w.admin)
}

const configFile = "drawbridge.yaml"

// write writes the newest version of the configuration and of the document.
func (w *world) write() error { return errors.Join(w.writeConfig(), w.writeDocument()) }

// writeConfig writes a configuration in which each version has other limits, another room for the API, and another host that may be asked for.
func (w *world) writeConfig() error {
	n := w.written.Load()
	return w.replace(configFile, fmt.Sprintf(`server: {listen: %q, shutdown_delay: 0s, drain_timeout: 5s, allowed_hosts: [%q, %q]}
admin: {listen: %q, token: "${ADMIN_TOKEN:-%s}"}
apis: [{spec: api.json, name: shop, base_url: %q, max_in_flight: %d}]
tools: {presentation: all}
limits: {max_streams: %d, max_calls: %d}
telemetry: {log_level: error}
`, w.host, w.host, versionHost(n), w.admin, adminToken, w.service.URL, 64+n%2, w.streams+w.few, 4000+n))
}

// versionHost is the host that only one version of the configuration lets in.
func versionHost(n int64) string { return versioned("vN.example", n) }

// replace writes a file at once: nobody reads a part of it.
func (w *world) replace(name, text string) error {
	name = filepath.Join(w.dir, name)
	if err := os.WriteFile(name+".new", []byte(text), 0o600); err != nil {
		return err
	}
	return os.Rename(name+".new", name)
}

// writeDocument writes the newest version of the document. Its number stands in all that the gateway makes of it: in the name of a tool, its argument and
// its description, and in the path that each tool asks for.
func (w *world) writeDocument() error {
	const template = `{"openapi":"3.1.0","info":{"title":"Shop vN","version":"N"},"paths":{
"/v/N/look":{"get":{"operationId":"look","summary":"Look at vN","responses":{"200":{"description":"ok"}}}},
"/v/N":{"get":{"operationId":"changedN","summary":"What is new in vN","parameters":[{"name":"vN","in":"query","schema":{"type":"string"}}],"responses":{"200":{"description":"ok"}}}}}}`
	return w.replace("api.json", versioned(template, w.written.Load()))
}

// versioned fills in the version of the document, which stands for N.
func versioned(text string, n int64) string {
	return strings.ReplaceAll(text, "N", strconv.FormatInt(n, 10))
}

// change changes the configuration and the document, and returns when the gateway has taken over both.
func (w *world) change(ctx context.Context) error {
	n := w.written.Add(1)
	if err := w.write(); err != nil {
		return err
	}
	if err := w.reload(ctx); err != nil {
		return err
	}
	w.taken.Store(n)
	if err := w.lets(ctx, n, true); err != nil || n == 0 {
		return err
	}
	return w.lets(ctx, n-1, false)
}

// lets fails unless the gateway lets in who asks for the host of a version, or does not.
func (w *world) lets(ctx context.Context, n int64, want bool) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, "http://"+w.host+"/mcp", nil)
	if err != nil {
		return err
	}
	req.Host = versionHost(n)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	_ = resp.Body.Close()
	if got := resp.StatusCode != http.StatusForbidden; got != want {
		return fmt.Errorf("version %d was taken over, and a request for %s is answered with %d", w.taken.Load(), req.Host, resp.StatusCode)
	}
	return nil
}

func (w *world) reload(ctx context.Context) error {
	resp, err := w.ask(ctx, http.MethodPost, "/reload")
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// ask asks the admin listener for something that has to be there.
func (w *world) ask(ctx context.Context, method, path string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, "http://"+w.admin+path, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+adminToken)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode >= 300 {
		_ = resp.Body.Close()
		return nil, fmt.Errorf("%s answers %d", path, resp.StatusCode)
	}
	return resp, nil
}

// memory is what the gateway holds, in bytes.
type memory struct{ live, resident float64 }

// memory looks until reloads that change nothing have made the gateway collect what is garbage three times, twelve seconds at most:
// what is live is the least that it was seen to have.
func (w *world) memory(ctx context.Context) (m memory, err error) {
	collected := math.Inf(1) // times, when it has been three more
	for end := time.Now().Add(12 * time.Second); time.Now().Before(end); {
		if err := w.reload(ctx); err != nil {
			return m, err
		}
		values, err := process.Metrics(ctx, w.admin)
		if err != nil {
			return m, err
		}
		live := values["go_memstats_heap_alloc_bytes"] + values["go_memstats_stack_inuse_bytes"]
		if m.live == 0 || live < m.live {
			m.live = live
		}
		now := values["go_gc_duration_seconds_count"]
		if collected = min(collected, now+3); now >= collected {
			break
		}
	}
	usage, err := w.gateway.Usage()
	m.resident = float64(usage.RSS)
	return m, err
}

func (w *world) close() error {
	var err error
	if w.gateway != nil {
		err = w.gateway.Stop()
	}
	if w.service != nil {
		w.service.Close()
	}
	_ = os.RemoveAll(w.dir)
	return err
}
