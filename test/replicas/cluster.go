package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"drawbridge/test/openload"
	"drawbridge/test/process"
)

// cluster is three gateways, a service and a Redis.
type cluster struct {
	options
	dir      string
	redis    *process.Redis
	stopped  bool
	service  *httptest.Server
	gateways []*process.Child
	hosts    []string // addresses
	admins   []string
}

func newCluster(ctx context.Context, o options) (c *cluster, err error) {
	c = &cluster{options: o}
	if c.dir, err = os.MkdirTemp("", "replicas"); err != nil {
		return c, err
	}
	if c.redis, err = process.StartRedis(ctx, c.dir); err != nil {
		return c, err
	}
	c.service = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"done":true}`)
	}))
	for _, name := range []string{"shop", "scarce"} {
		document := fmt.Sprintf(`{"openapi":"3.1.0","info":{"title":%q,"version":"1"},"paths":{"/":{"get":{"operationId":"%s_look","responses":{"200":{"description":"ok"}}}}}}`, name, name)
		if err := os.WriteFile(filepath.Join(c.dir, name+".json"), []byte(document), 0o600); err != nil {
			return c, err
		}
	}
	waiting, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	for i := range 3 {
		host, err := process.FreeAddress()
		if err != nil {
			return c, err
		}
		admin, err := process.FreeAddress()
		if err != nil {
			return c, err
		}
		file := filepath.Join(c.dir, fmt.Sprintf("gateway%d.yaml", i))
		config := fmt.Sprintf(`server: {listen: %q, shutdown_delay: 0s, drain_timeout: 5s, seal_keys: ["${SEAL_KEY:-the-key-of-all-replicas-0123456789}"]}
admin: {listen: %q}
tools: {prefix: never}
apis:
  - {spec: shop.json, name: shop, base_url: %q, rate: {rate: 100000/s, burst: 100000}}
  - {spec: scarce.json, name: scarce, base_url: %q, rate: {rate: %d/s, burst: %d}}
state: {redis: {url: "redis://%s"}}
limits: {address_rate: off}
telemetry: {log_level: warn}
`, host, admin, c.service.URL, c.service.URL, o.limit, o.limit, c.redis.Address)
		if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
			return c, err
		}
		g, err := process.Start(ctx, o.program, "serve", "--config", file)
		if err != nil {
			return c, err
		}
		c.gateways, c.hosts, c.admins = append(c.gateways, g), append(c.hosts, host), append(c.admins, admin)
		if err := g.AwaitGateway(waiting, admin); err != nil {
			return c, err
		}
	}
	if _, err = c.await(ctx, true, 20*time.Second); err != nil {
		return c, err
	}
	for !c.all(ctx, "up, 3 replicas") {
		if !openload.Pause(waiting, 20*time.Millisecond) {
			return c, errors.New("the gateways do not know of each other")
		}
	}
	return c, nil
}

// await returns how long it took until all gateways know whether Redis is there.
func (c *cluster) await(ctx context.Context, up bool, most time.Duration) (time.Duration, error) {
	want := "away since"
	if up {
		want = "up, "
	}
	began := time.Now()
	for !c.all(ctx, want) {
		if time.Since(began) > most || !openload.Pause(ctx, 10*time.Millisecond) {
			return 0, fmt.Errorf("not all gateways say of Redis that it is %s within %v", want, most)
		}
	}
	return time.Since(began), nil
}

// all tells whether each gateway says so of what is shared.
func (c *cluster) all(ctx context.Context, words string) bool {
	for _, admin := range c.admins {
		text, err := read(ctx, "http://"+admin+"/readyz?verbose")
		if err != nil || !strings.Contains(text, "shared state: "+words) {
			return false
		}
	}
	return true
}

// read gets what must be there.
func read(ctx context.Context, url string) (string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if resp.StatusCode != http.StatusOK {
		return "", fmt.Errorf("%s answers %d", url, resp.StatusCode)
	}
	return string(text), err
}

// stopRedis has it hold still: it takes connections, and says nothing.
func (c *cluster) stopRedis() error {
	c.stopped = true
	return syscall.Kill(c.redis.PID(), syscall.SIGSTOP)
}

func (c *cluster) continueRedis() error {
	c.stopped = false
	return syscall.Kill(c.redis.PID(), syscall.SIGCONT)
}

func (c *cluster) close() error {
	var errs []error
	for _, g := range c.gateways {
		errs = append(errs, g.Stop())
	}
	if c.redis != nil {
		if c.stopped {
			errs = append(errs, c.continueRedis())
		}
		_ = c.redis.Kill() // it may be dead already
	}
	if c.service != nil {
		c.service.Close()
	}
	_ = os.RemoveAll(c.dir)
	return errors.Join(errs...)
}
