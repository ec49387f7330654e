package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"drawbridge/test/process"
)

// eurekaRegistry is a Eureka server of Spring Cloud, which forgets everything when it ends. As clients of Eureka do, the services send
// heartbeats and register again when the server does not know them.
type eurekaRegistry struct {
	api
	args   []string
	server *process.Child
	beats  heartbeats
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
	}
	r.beats.start(ctx, 30*time.Second, r.beat)
	if err := r.up(ctx); err != nil {
		return nil, err
	}
	return r, addOther(ctx, o, r)
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
		_, err := r.send(ctx, http.MethodGet, "/apps", media, nil)
		return err
	})
}

func (r *eurekaRegistry) down() error { return kill(r.server) }

func (r *eurekaRegistry) stop() {
	r.beats.stop()
	_ = kill(r.server)
}

// set registers services: what the server has answered is shown, because its read-only cache is off.
func (r *eurekaRegistry) set(ctx context.Context, services map[string]*service) error {
	return each(services, func(name string, s *service) error {
		return r.beats.change(name, s, func(*service) error {
			if s == nil {
				_, err := r.send(ctx, http.MethodDelete, instancePath(name), media, nil)
				return err
			}
			return r.register(ctx, name, s)
		})
	})
}

func instancePath(name string) string { return "/apps/" + strings.ToUpper(name) + "/" + name }

func (r *eurekaRegistry) register(ctx context.Context, name string, s *service) error {
	type object = map[string]any
	host, _, _ := net.SplitHostPort(s.address)
	metadata := map[string]string{"openapi": s.path(), "selected": selected(name)}
	_, err := r.send(ctx, http.MethodPost, "/apps/"+strings.ToUpper(name), media, object{"instance": object{
		"instanceId": name, "app": strings.ToUpper(name), "hostName": host, "ipAddr": host, "vipAddress": name, "status": "UP",
		"port": object{"$": s.port(), "@enabled": "true"}, "securePort": object{"$": 443, "@enabled": "false"},
		"homePageUrl": "http://" + s.address + "/", "metadata": metadata,
		"dataCenterInfo": object{"@class": "com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo", "name": "MyOwn"},
	}})
	return err
}

// beat sends the heartbeat of a service, at the interval that clients have by default.
func (r *eurekaRegistry) beat(ctx context.Context, name string, s *service) error {
	_, err := r.send(ctx, http.MethodPut, instancePath(name), media, nil)
	if err != nil && strings.Contains(err.Error(), "status 404") {
		return r.register(ctx, name, s)
	}
	return err
}
