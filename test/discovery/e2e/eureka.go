package main

import (
	"context"
	"fmt"
	"maps"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"drawbridge/test/process"
)

// eurekaRegistry is a Eureka server of Spring Cloud, which forgets everything when it ends. As clients of Eureka do, the services send
// heartbeats and register again when the server does not know them.
type eurekaRegistry struct {
	api
	args   []string
	server *process.Child

	mu       sync.Mutex
	services map[string]*service
	cancel   context.CancelFunc
	beats    sync.WaitGroup
}

func newEurekaRegistry(ctx context.Context, o *options, dir string) (registry, error) {
	address, err := process.FreeAddress()
	if err != nil {
		return nil, err
	}
	host, port, _ := net.SplitHostPort(address)
	home := filepath.Join(o.programs, "eureka")
	r := &eurekaRegistry{
		api: api{base: "http://" + address + "/eureka", client: &http.Client{Timeout: 10 * time.Second}},
		args: []string{"-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Djava.io.tmpdir=" + dir, "-cp", filepath.Join(home, "classes") + ":" + filepath.Join(home, "lib", "*"), "registry.EurekaServer",
			"--server.address=" + host, "--server.port=" + port, "--eureka.client.register-with-eureka=false", "--eureka.client.fetch-registry=false",
			"--eureka.server.use-read-only-response-cache=false", "--eureka.server.enable-self-preservation=false", "--logging.level.root=warn"},
		services: map[string]*service{},
	}
	if err := r.up(ctx); err != nil {
		return nil, err
	}
	// One service is always there and not selected: that an answer has none may be the sign of a restart.
	other, err := newService(o.address, "other", 1)
	if err != nil {
		return nil, err
	}
	if err := r.set(ctx, map[string]*service{"other": other}); err != nil {
		return nil, err
	}
	ctx, r.cancel = context.WithCancel(ctx)
	r.beats.Go(func() { r.beat(ctx) })
	return r, nil
}

func (r *eurekaRegistry) provider() string {
	return fmt.Sprintf("eureka: {url: %q, refresh: 1s}, services: {labels: {selected: 'yes'}}", r.base)
}

// up starts the server and waits until it answers.
func (r *eurekaRegistry) up(ctx context.Context) (err error) {
	if r.server, err = process.Start(ctx, "java", r.args...); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	return r.server.Await(ctx, func(ctx context.Context) error {
		_, err := r.send(ctx, http.MethodGet, "/apps", "application/json", nil)
		return err
	})
}

func (r *eurekaRegistry) down() error { return kill(r.server) }

func (r *eurekaRegistry) stop() {
	r.cancel()
	r.beats.Wait()
	_ = kill(r.server)
}

// set registers services: what the server has answered is shown, because its read-only cache is off.
func (r *eurekaRegistry) set(ctx context.Context, services map[string]*service) error {
	return each(services, func(name string, s *service) error {
		r.mu.Lock()
		defer r.mu.Unlock()
		if s == nil {
			delete(r.services, name)
			_, err := r.send(ctx, http.MethodDelete, instancePath(name), "application/json", nil)
			return err
		}
		r.services[name] = s
		return r.register(ctx, name, s)
	})
}

func instancePath(name string) string { return "/apps/" + strings.ToUpper(name) + "/" + name }

func (r *eurekaRegistry) register(ctx context.Context, name string, s *service) error {
	type object = map[string]any
	host, _, _ := net.SplitHostPort(s.address)
	metadata := map[string]string{"openapi": s.path(), "selected": "yes"}
	if name == "other" {
		metadata["selected"] = "no"
	}
	_, err := r.send(ctx, http.MethodPost, "/apps/"+strings.ToUpper(name), "application/json", object{"instance": object{
		"instanceId": name, "app": strings.ToUpper(name), "hostName": host, "ipAddr": host, "vipAddress": name, "status": "UP",
		"port": object{"$": s.port(), "@enabled": "true"}, "securePort": object{"$": 443, "@enabled": "false"},
		"homePageUrl": "http://" + s.address + "/", "metadata": metadata,
		"dataCenterInfo": object{"@class": "com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo", "name": "MyOwn"},
	}})
	return err
}

// beat sends the heartbeats of all services, at the interval that clients have by default.
func (r *eurekaRegistry) beat(ctx context.Context) {
	ticker := time.NewTicker(30 * time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		r.mu.Lock()
		services := maps.Clone(r.services)
		r.mu.Unlock()
		_ = each(services, func(name string, _ *service) error {
			_, err := r.send(ctx, http.MethodPut, instancePath(name), "application/json", nil)
			if err == nil || ctx.Err() != nil {
				return ctx.Err()
			}
			r.mu.Lock()
			defer r.mu.Unlock()
			if s := r.services[name]; s != nil && strings.Contains(err.Error(), "status 404") {
				_ = r.register(ctx, name, s)
			}
			return nil // a server that is away gets the next heartbeat
		})
	}
}
