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
	"sync"
	"time"

	"drawbridge/auth/authtest"
	"drawbridge/test/openload"
	"drawbridge/test/process"
)

// cluster is two gateways behind nginx, a service and an identity provider.
type cluster struct {
	options
	dir      string
	front    string // address of nginx
	proxy    *process.Child
	idp      *authtest.Server
	token    string
	service  *httptest.Server
	replicas []*replica

	mu   sync.Mutex
	sent map[string]int // calls by the replica that made them
}

// replica is one gateway.
type replica struct {
	name        string
	host, admin string
	child       *process.Child
	disk        *process.Disk
	started     time.Duration // how long it took to be ready
}

const document = `{"openapi":"3.1.0","info":{"title":"Things","version":"1"},"paths":{"/things/{id}":{"get":{"operationId":"get_thing",
"parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"string"}}],"responses":{"200":{"description":"ok"}}}}}}`

func newCluster(ctx context.Context, o options) (c *cluster, err error) {
	c = &cluster{options: o, sent: map[string]int{}}
	if c.dir, err = os.MkdirTemp("", "failover"); err != nil {
		return c, err
	}
	if err := os.WriteFile(filepath.Join(c.dir, "things.json"), []byte(document), 0o600); err != nil {
		return c, err
	}
	c.service = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		parts := strings.Split(r.URL.Path, "/") // "", replica, things, id
		c.mu.Lock()
		c.sent[parts[1]]++
		c.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"id":%q}`, parts[len(parts)-1])
	}))
	if c.front, err = process.FreeAddress(); err != nil {
		return c, err
	}
	resource := "http://" + c.front + "/mcp"
	if c.idp, err = authtest.Start(authtest.Options{Resources: []string{resource}, DefaultResource: resource}); err != nil {
		return c, err
	}
	if c.token, err = c.idp.Issue(authtest.Token{Scopes: []string{"mcp:tools"}, Life: time.Hour}); err != nil {
		return c, err
	}
	for i := range 2 {
		r := &replica{name: fmt.Sprintf("gateway%d", i)}
		c.replicas = append(c.replicas, r)
		if r.host, err = process.FreeAddress(); err != nil {
			return c, err
		}
		if r.admin, err = process.FreeAddress(); err != nil {
			return c, err
		}
		if r.disk, err = process.NewDisk(filepath.Join(c.dir, r.name+"-audit")); err != nil {
			return c, err
		}
		if err := r.start(ctx, c, true); err != nil {
			return c, err
		}
	}
	return c, c.startNginx(ctx)
}

// outage makes the identity provider take requests and answer none, or answer again.
func (c *cluster) outage(on bool) {
	var f *authtest.Failure
	if on {
		f = &authtest.Failure{Hang: true}
	}
	c.idp.Fail(authtest.Metadata, f)
	c.idp.Fail(authtest.KeySet, f)
}

// sentBy returns the number of calls that a replica has made.
func (c *cluster) sentBy(replica int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sent[c.replicas[replica].name]
}

func (c *cluster) close() error {
	var errs []error
	if c.proxy != nil {
		errs = append(errs, c.proxy.Stop())
	}
	for _, r := range c.replicas {
		if r.child != nil {
			errs = append(errs, r.child.Stop())
		}
		if r.disk != nil {
			errs = append(errs, r.disk.Close())
		}
	}
	if c.idp != nil {
		errs = append(errs, c.idp.Close())
	}
	if c.service != nil {
		c.service.Close()
	}
	return errors.Join(append(errs, os.RemoveAll(c.dir))...)
}

// start starts a gateway, and waits until it is ready, or without keys until it answers.
func (r *replica) start(ctx context.Context, c *cluster, keys bool) (err error) {
	state := ""
	if keys {
		state = fmt.Sprintf("state_dir: %q, ", filepath.Join(c.dir, r.name+"-state"))
	}
	file := filepath.Join(c.dir, r.name+".yaml")
	config := fmt.Sprintf(`server: {listen: %q, public_url: "http://%s", trusted_proxies: [127.0.0.1], %sready: tried, shutdown_delay: 3s, drain_timeout: 5s, seal_keys: ["${SEAL_KEY:-the-key-of-all-replicas-0123456789}"]}
admin: {listen: %q}
auth: {issuers: [{issuer: %q}], default_scopes: [mcp:tools]}
apis: [{spec: things.json, name: things, base_url: %q}]
tools: {prefix: never}
audit: {file: %q}
limits: {address_rate: off, principal_rate: off}
telemetry: {log_level: warn}
`, r.host, c.front, state, r.admin, c.idp.Issuer(), c.service.URL+"/"+r.name, r.disk.File())
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		return err
	}
	began := time.Now()
	if r.child, err = process.Start(ctx, c.program, "serve", "--config", file); err != nil {
		return err
	}
	if !keys {
		return r.awaitStatus(ctx, 503, 20*time.Second)
	}
	err = r.await(ctx, 30*time.Second)
	r.started = time.Since(began)
	return err
}

// restart ends a gateway as an orchestrator does, and starts it again at the same address.
func (r *replica) restart(ctx context.Context, c *cluster, keys bool) error {
	if err := r.child.Stop(); err != nil {
		return err
	}
	return r.start(ctx, c, keys)
}

// await waits until the gateway is ready.
func (r *replica) await(ctx context.Context, most time.Duration) error {
	return r.awaitStatus(ctx, 200, most)
}

// awaitStatus waits for an answer to readiness probes.
func (r *replica) awaitStatus(ctx context.Context, want int, most time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	return r.child.Await(ctx, func(ctx context.Context) error {
		status, text := r.readiness(ctx)
		if status != want {
			openload.Pause(ctx, 5*time.Millisecond)
			return fmt.Errorf("/readyz answers %d %s, want %d", status, text, want)
		}
		return nil
	})
}

// readiness returns the answer to a readiness probe; 0 if there is none.
func (r *replica) readiness(ctx context.Context) (status int, text string) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+r.admin+"/readyz", nil)
	if err != nil {
		return 0, err.Error()
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<10))
	return resp.StatusCode, string(body)
}

// startNginx starts nginx with the example of deploy/nginx, in which only names and places are others, without TLS.
func (c *cluster) startNginx(ctx context.Context) error {
	example, err := os.ReadFile("deploy/nginx/drawbridge.conf")
	if err != nil {
		return err
	}
	text, err := process.PairForNginx(string(example), c.front, [2]string{c.replicas[0].host, c.replicas[1].host})
	if err != nil {
		return err
	}
	file := filepath.Join(c.dir, "nginx.conf")
	if err := os.WriteFile(file, []byte(process.NginxConfig(c.dir, text)), 0o600); err != nil {
		return err
	}
	if c.proxy, err = process.Start(ctx, c.nginx, "-p", c.dir, "-e", "stderr", "-c", file); err != nil {
		return err
	}
	waiting, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	return c.proxy.Await(waiting, func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+c.front+"/.well-known/oauth-protected-resource", nil)
		if err != nil {
			return err
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return err
		}
		return resp.Body.Close()
	})
}
