package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"drawbridge/test/process"
)

func main() {
	var o options
	flag.StringVar(&o.binary, "drawbridge", "bin/drawbridge", "the gateway's program")
	flag.IntVar(&o.changes, "changes", 30, "services that come and go, one after the other")
	flag.DurationVar(&o.outage, "outage", 60*time.Second, "how long the registry is away")
	flag.IntVar(&o.services, "services", 500, "services at once")
	flag.IntVar(&o.operations, "operations", 20, "operations of each of them")
	flag.Parse()
	failed := false
	for _, kind := range []string{"file", "http"} {
		if err := o.run(context.Background(), kind); err != nil {
			fmt.Printf("%s: %v\n", kind, err)
			failed = true
		}
	}
	if failed {
		os.Exit(1)
	}
}

type options struct {
	binary               string
	changes              int
	outage               time.Duration
	services, operations int
}

// gateway is the program under test, in front of a registry.
type gateway struct {
	*process.Child
	url, admin string
	registry   *registry
}

func (o *options) start(ctx context.Context, dir, kind string) (*gateway, error) {
	r, err := newRegistry(dir, kind)
	if err != nil {
		return nil, err
	}
	listen, err := process.FreeAddress()
	if err != nil {
		return nil, err
	}
	admin, err := process.FreeAddress()
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "drawbridge.yaml")
	if err := os.WriteFile(file, []byte(r.config(listen, admin)), 0o600); err != nil {
		return nil, err
	}
	child, err := process.Start(ctx, o.binary, "serve", "--config", file, "--log-format", "json")
	if err != nil {
		return nil, err
	}
	return &gateway{Child: child, url: "http://" + listen + "/mcp", admin: "http://" + admin, registry: r}, nil
}

func (o *options) run(ctx context.Context, kind string) error {
	dir, err := os.MkdirTemp("", "discovery")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	g, err := o.start(ctx, dir, kind)
	if err != nil {
		return err
	}
	defer g.Stop() //nolint:errcheck // it is killed then
	if err := errors.Join(o.followed(ctx, kind, g), o.away(ctx, kind, g), o.many(ctx, kind, g)); err != nil {
		return fmt.Errorf("%w\n%s", err, g.Log())
	}
	return nil
}

// call calls a tool and returns an error unless its service has answered.
func (g *gateway) call(ctx context.Context, tool string) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`, tool)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, g.url, strings.NewReader(body))
	if err != nil {
		return err
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2026-07-28",
		"Mcp-Method": "tools/call", "Mcp-Name": tool,
	} {
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil && !strings.Contains(string(text), `"structuredContent":{"by":`) {
		err = fmt.Errorf("%s: status %d: %.300s", tool, resp.StatusCode, text)
	}
	return err
}

// until returns how long it takes until calls of a tool succeed, or fail.
func (g *gateway) until(ctx context.Context, tool string, succeeds bool) (time.Duration, error) {
	began := time.Now()
	for {
		err := g.call(ctx, tool)
		if (err == nil) == succeeds {
			return time.Since(began), nil
		}
		if time.Since(began) > time.Minute {
			return 0, fmt.Errorf("after a minute, tool %s: %w", tool, err)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// followed measures services that come, move and go.
func (o *options) followed(ctx context.Context, kind string, g *gateway) error {
	var came, gone []time.Duration
	for i := range o.changes {
		name := fmt.Sprintf("s%d", i)
		s, err := newService(name, 3)
		if err != nil {
			return err
		}
		tool := "shop-" + name + "_op1"
		for _, step := range []struct {
			s    *service
			into *[]time.Duration
		}{{s, &came}, {nil, &gone}} {
			if err := g.registry.set(name, step.s); err != nil {
				return err
			}
			took, err := g.until(ctx, tool, step.s != nil)
			if err != nil {
				return err
			}
			*step.into = append(*step.into, took)
		}
		s.server.Close()
	}
	fmt.Printf("%s: callable after %s; gone after %s; %d services each\n", kind, spread(came), spread(gone), o.changes)
	return nil
}

// load calls a tool without pause until stop is called, which returns the numbers of calls and of those that failed.
func (g *gateway) load(ctx context.Context, tool string) (stop func() (calls, failed int64, first error)) {
	ctx, cancel := context.WithCancel(ctx)
	var calls, failed atomic.Int64
	var first atomic.Pointer[error]
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for ctx.Err() == nil {
				if err := g.call(context.WithoutCancel(ctx), tool); err != nil {
					failed.Add(1)
					first.CompareAndSwap(nil, &err)
				}
				calls.Add(1)
				time.Sleep(2 * time.Millisecond)
			}
		})
	}
	return func() (int64, int64, error) {
		cancel()
		wg.Wait()
		if err := first.Load(); err != nil {
			return calls.Load(), failed.Load(), *err
		}
		return calls.Load(), failed.Load(), nil
	}
}

// away measures calls while the registry is away, and while their service moves from instance to instance.
func (o *options) away(ctx context.Context, kind string, g *gateway) error {
	s, err := newService("stays", 3)
	if err != nil {
		return err
	}
	if err := g.registry.set("stays", s); err != nil {
		return err
	}
	if _, err := g.until(ctx, "shop-stays_op1", true); err != nil {
		return err
	}
	stop := g.load(ctx, "shop-stays_op1")
	if err := g.registry.down(); err != nil {
		return err
	}
	time.Sleep(o.outage)
	if err := g.registry.up(); err != nil {
		return err
	}
	late, err := newService("late", 3)
	if err != nil {
		return err
	}
	if err := g.registry.set("late", late); err != nil {
		return err
	}
	back, err := g.until(ctx, "shop-late_op1", true)
	calls, failed, first := stop()
	fmt.Printf("%s: registry away for %v: %d calls, %d failed; a new service is callable %v after it is back\n", kind, o.outage, calls, failed, back.Round(time.Millisecond))
	if err = errors.Join(err, first); err != nil {
		return err
	}

	stop = g.load(ctx, "shop-stays_op1")
	for range 10 {
		next, err := newService("stays", 3)
		if err != nil {
			return err
		}
		if err := g.registry.set("stays", next); err != nil {
			return err
		}
		time.Sleep(3 * time.Second) // longer than the registry and the gateway take together
		if err := s.server.Shutdown(ctx); err != nil {
			return err
		}
		s = next
	}
	calls, failed, first = stop()
	fmt.Printf("%s: a service moves 10 times: %d calls, %d failed\n", kind, calls, failed)
	return first
}

// many measures the start of many services, and what a change of one of them costs.
func (o *options) many(ctx context.Context, kind string, g *gateway) error {
	var last string
	g.registry.mu.Lock()
	for i := range o.services {
		name := fmt.Sprintf("m%03d", i)
		s, err := newService(name, o.operations)
		if err != nil {
			g.registry.mu.Unlock()
			return err
		}
		g.registry.services[name], last = s, name
	}
	g.registry.mu.Unlock()
	began := time.Now()
	if err := g.registry.show(); err != nil {
		return err
	}
	want := fmt.Sprintf(`"tools": %d,`, o.services*o.operations+6) // and those of two services before
	for !strings.Contains(g.status(ctx), want) {
		if time.Since(began) > 5*time.Minute {
			return fmt.Errorf("after five minutes not all tools are served: %.200s", g.status(ctx))
		}
		time.Sleep(20 * time.Millisecond)
	}
	took := time.Since(began)
	resident := residentMiB(g.PID())
	changed, err := newService(last, o.operations+1)
	if err != nil {
		return err
	}
	if err := g.registry.set(last, changed); err != nil {
		return err
	}
	one, err := newService("one", 3)
	if err != nil {
		return err
	}
	if err := g.registry.set("one", one); err != nil {
		return err
	}
	alone, err := g.until(ctx, "shop-one_op1", true)
	fmt.Printf("%s: %d services with %d operations each: served after %v, %d MiB resident; one more is callable after %v\n",
		kind, o.services, o.operations, took.Round(time.Millisecond), resident, alone.Round(time.Millisecond))
	return err
}

func (g *gateway) status(ctx context.Context) string {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, g.admin+"/apis", http.NoBody)
	if err != nil {
		return err.Error()
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	return string(text)
}

func residentMiB(pid int) int {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(text)) {
		var kib int
		if n, _ := fmt.Sscanf(line, "VmRSS: %d kB", &kib); n == 1 {
			return kib >> 10
		}
	}
	return 0
}

// spread shows the median and the 95th percentile of times.
func spread(times []time.Duration) string {
	slices.Sort(times)
	at := func(share float64) time.Duration {
		return times[min(int(share*float64(len(times))), len(times)-1)].Round(time.Millisecond)
	}
	return fmt.Sprintf("%v (p95 %v)", at(0.5), at(0.95))
}
