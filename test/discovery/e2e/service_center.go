package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"drawbridge/test/process"
)

// serviceCenterRegistry is an Apache ServiceComb service-center, which keeps what it knows in etcd.
type serviceCenterRegistry struct {
	api
	binary, dir  string
	etcd, server *process.Child
	registered   map[string]registration
}

// registration is the version of a microservice that is registered.
type registration struct {
	id      string
	version int
}

func newServiceCenterRegistry(ctx context.Context, o *options, dir string) (registry, error) {
	var addresses [3]string
	for i := range addresses {
		address, err := process.FreeAddress()
		if err != nil {
			return nil, err
		}
		addresses[i] = address
	}
	client, peer := addresses[1], addresses[2]
	binary, err := filepath.Abs(filepath.Join(o.programs, "scserver"))
	if err != nil {
		return nil, err
	}
	r := &serviceCenterRegistry{
		api:    api{base: "http://" + addresses[0] + "/v4/default/registry", client: &http.Client{Timeout: 10 * time.Second}},
		binary: binary, dir: dir, registered: map[string]registration{},
	}
	if r.etcd, err = process.Start(ctx, filepath.Join(o.programs, "etcd"), "--data-dir="+filepath.Join(dir, "etcd"), "--unsafe-no-fsync", "--log-level=error",
		"--listen-client-urls=http://"+client, "--advertise-client-urls=http://"+client, "--listen-peer-urls=http://"+peer); err != nil {
		return nil, err
	}
	host, port, _ := net.SplitHostPort(addresses[0])
	text := fmt.Sprintf("httpaddr = %s\nhttpport = %s\nregistry_plugin = etcd\ndiscovery_plugin = etcd\nmanager_cluster = %q\nssl_mode = 0\nself_register = 1\nloglevel = ERROR\n", host, port, client)
	if err := os.MkdirAll(filepath.Join(dir, "conf"), 0o700); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, "conf", "app.conf"), []byte(text), 0o600); err != nil {
		return nil, err
	}
	return r, r.up(ctx)
}

func (r *serviceCenterRegistry) provider() string {
	return fmt.Sprintf("service_center: {address: %q, application: shop, refresh: 1s}", strings.TrimSuffix(r.base, "/v4/default/registry"))
}

// schema is the id of the schema that each microservice has, which is part of its API's name.
func (*serviceCenterRegistry) schema() string { return "api" }

// up starts the server, which reads conf/app.conf in its directory, and waits until it lists itself.
func (r *serviceCenterRegistry) up(ctx context.Context) (err error) {
	if r.server, err = process.Start(ctx, "sh", "-c", `cd "$0" && exec "$1"`, r.dir, r.binary); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	return r.server.Await(ctx, func(ctx context.Context) error {
		text, err := r.send(ctx, http.MethodGet, "/microservices", "", nil)
		if err == nil && !strings.Contains(string(text), "SERVICECENTER") {
			err = fmt.Errorf("the server does not list itself: %.100s", text)
		}
		return err
	})
}

func (r *serviceCenterRegistry) down() error { return kill(r.server) }

func (r *serviceCenterRegistry) stop() {
	_ = kill(r.server)
	_ = kill(r.etcd)
}

// set registers each service as a new version of its microservice with one schema, and then removes the version before.
func (r *serviceCenterRegistry) set(ctx context.Context, services map[string]*service) error {
	err := each(services, func(name string, s *service) (err error) {
		last, next := r.registered[name], registration{}
		delete(r.registered, name)
		if s != nil {
			if next, err = r.register(ctx, name, s, last.version+1); err != nil {
				return err
			}
			r.registered[name] = next
		}
		if last.id != "" {
			_, err = r.send(ctx, http.MethodDelete, "/microservices/"+last.id+"?force=1", "", nil)
		}
		return err
	})
	if err != nil {
		return err
	}
	return r.await(ctx, services)
}

func (r *serviceCenterRegistry) register(ctx context.Context, name string, s *service, version int) (registration, error) {
	type object = map[string]any
	text, err := r.send(ctx, http.MethodPost, "/microservices", media, object{"service": object{
		"appId": "shop", "serviceName": name, "version": fmt.Sprintf("1.0.%d", version), "environment": "production", "schemas": []string{r.schema()},
	}})
	if err != nil {
		return registration{}, err
	}
	var answer struct {
		ID string `json:"serviceId"`
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return registration{}, err
	}
	document := s.document.Load()
	if _, err = r.send(ctx, http.MethodPut, "/microservices/"+answer.ID+"/schemas/"+r.schema(), media, object{"schema": document.text, "summary": fmt.Sprint(version)}); err != nil {
		return registration{}, err
	}
	_, err = r.send(ctx, http.MethodPost, "/microservices/"+answer.ID+"/instances", media, object{"instance": object{
		"hostName": "services", "endpoints": []string{"rest://" + s.address}, "status": "UP",
		"healthCheck": object{"mode": "push", "interval": 3600, "times": 3}, // no heartbeat is due while this runs
	}})
	return registration{answer.ID, version}, err
}

// await returns when the server lists what is registered.
func (r *serviceCenterRegistry) await(ctx context.Context, services map[string]*service) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	return each(services, func(name string, s *service) error {
		return r.server.Await(ctx, func(ctx context.Context) error {
			text, err := r.send(ctx, http.MethodGet, "/microservices", "", nil)
			if err != nil {
				return err
			}
			shown := strings.Contains(string(text), `"serviceName":"`+name+`"`)
			if s != nil && shown {
				instances, err := r.send(ctx, http.MethodGet, "/microservices/"+r.registered[name].id+"/instances", "", nil)
				shown = err == nil && strings.Contains(string(instances), s.address)
			}
			if shown != (s != nil) {
				return fmt.Errorf("the server does not show it as it is registered: %.300s", text)
			}
			return nil
		})
	})
}
