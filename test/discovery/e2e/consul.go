package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"drawbridge/test/process"
)

// consulRegistry is a server of Consul, which keeps its catalog on disk.
type consulRegistry struct {
	api
	binary string
	args   []string
	server *process.Child
}

func newConsulRegistry(ctx context.Context, o *options, dir string) (registry, error) {
	var ports [5]string
	for i := range ports {
		address, err := process.FreeAddress()
		if err != nil {
			return nil, err
		}
		_, ports[i], _ = net.SplitHostPort(address)
	}
	hcl := fmt.Sprintf("ports {http = %s dns = -1 grpc = -1 grpc_tls = -1 server = %s serf_lan = %s serf_wan = %s}\nperformance {raft_multiplier = 1}\n", ports[0], ports[1], ports[2], ports[3])
	r := &consulRegistry{
		binary: filepath.Join(o.programs, "consul"),
		args: []string{"agent", "-server", "-bootstrap-expect=1", "-node=e2e", "-bind=127.0.0.1", "-client=127.0.0.1", "-disable-host-node-id",
			"-data-dir=" + filepath.Join(dir, "consul"), "-log-level=warn", "-hcl=" + hcl, "-hcl=disable_update_check = true"},
		api: api{base: "http://127.0.0.1:" + ports[0], client: &http.Client{Timeout: 10 * time.Second}},
	}
	return r, r.up(ctx)
}

func (r *consulRegistry) provider() string { return fmt.Sprintf("consul: {address: %q}", r.base) }

// up starts the server and waits until it has a leader.
func (r *consulRegistry) up(ctx context.Context) (err error) {
	if r.server, err = process.Start(ctx, r.binary, r.args...); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	return r.server.Await(ctx, func(ctx context.Context) error {
		leader, err := r.send(ctx, http.MethodGet, "/v1/status/leader", "", nil)
		if err == nil && strings.Trim(string(leader), "\"\n") == "" {
			err = errors.New("there is no leader")
		}
		if err == nil {
			_, err = r.send(ctx, http.MethodGet, "/v1/catalog/services", "", nil)
		}
		return err
	})
}

func (r *consulRegistry) down() error { return kill(r.server) }

func (r *consulRegistry) stop() { _ = kill(r.server) }

// set registers services in the catalog, at a node that no agent takes care of: what the server has answered is shown.
func (r *consulRegistry) set(ctx context.Context, services map[string]*service) error {
	type object = map[string]any
	return each(services, func(name string, s *service) error {
		if s == nil {
			_, err := r.send(ctx, http.MethodPut, "/v1/catalog/deregister", media, object{"Node": "services", "ServiceID": name})
			return err
		}
		_, err := r.send(ctx, http.MethodPut, "/v1/catalog/register", media, object{
			"Node": "services", "Address": "127.0.0.1", "Service": object{"ID": name, "Service": name, "Port": s.port(), "Meta": map[string]string{"openapi": s.path()}},
		})
		return err
	})
}
