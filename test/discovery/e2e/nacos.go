package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"drawbridge/test/process"
)

// nacosRegistry is a Nacos server, which forgets the services when it ends. As clients of Nacos do, they send heartbeats and register
// again when the server does not know them.
type nacosRegistry struct {
	api
	args   []string
	server *process.Child
	beats  heartbeats
}

func newNacosRegistry(ctx context.Context, o *options, dir string) (registry, error) {
	const host = "127.0.0.1"
	port, err := nacosPort(host)
	if err != nil {
		return nil, err
	}
	home := filepath.Join(o.programs, "nacos")
	r := &nacosRegistry{
		api: api{base: "http://" + net.JoinHostPort(host, port) + "/nacos", client: &http.Client{Timeout: 10 * time.Second}},
		args: []string{"-Xmx384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "--add-opens=java.base/java.lang=ALL-UNNAMED", "-Djava.io.tmpdir=" + dir, "-Dnacos.standalone=true", "-Dnacos.home=" + filepath.Join(dir, "nacos"),
			"-Dnacos.server.ip=" + host, "-cp", filepath.Join(home, "classes") + ":" + filepath.Join(home, "lib", "*"), "registry.NacosServer",
			"--server.address=" + host, "--server.port=" + port, "--server.servlet.context-path=/nacos", "--logging.level.root=warn"},
	}
	r.beats.start(ctx, 5*time.Second, r.beat)
	if err := r.up(ctx); err != nil {
		return nil, err
	}
	return r, addOther(ctx, o, r)
}

// nacosPort returns a free port below those that systems give to connections, because the server needs three more, at fixed distances,
// whenever it starts.
func nacosPort(host string) (string, error) {
	for port := 18000; port < 28000; port += 7 {
		free := true
		for _, distance := range []int{-1000, 0, 1000, 1001} {
			l, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port+distance)))
			if err != nil {
				free = false
				break
			}
			l.Close()
		}
		if free {
			return strconv.Itoa(port), nil
		}
	}
	return "", errors.New("found no free port for Nacos")
}

func (r *nacosRegistry) provider() string {
	return fmt.Sprintf("nacos: {address: %q, refresh: 1s}, services: {labels: {selected: 'yes'}}", r.base)
}

// up starts the server and waits until a service can be registered.
func (r *nacosRegistry) up(ctx context.Context) (err error) {
	if r.server, err = process.Start(ctx, "java", r.args...); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	return r.server.Await(ctx, func(ctx context.Context) error {
		probe := "/v1/ns/instance?" + url.Values{"serviceName": {"PROBE@@probe"}, "ip": {"127.0.0.1"}, "port": {"1"}}.Encode()
		_, err := r.send(ctx, http.MethodPost, probe, "", nil)
		return err
	})
}

func (r *nacosRegistry) down() error { return kill(r.server) }

func (r *nacosRegistry) stop() {
	r.beats.stop()
	_ = kill(r.server)
}

// set registers services and waits until the server lists them.
func (r *nacosRegistry) set(ctx context.Context, services map[string]*service) error {
	err := each(services, func(name string, s *service) error {
		return r.beats.change(name, s, func(last *service) (err error) {
			if s != nil {
				err = r.register(ctx, name, s)
			}
			if err == nil && last != nil && (s == nil || last.address != s.address) {
				_, err = r.send(ctx, http.MethodDelete, "/v1/ns/instance?"+instanceOf(name, last).Encode(), "", nil)
			}
			return err
		})
	})
	if err != nil {
		return err
	}
	return each(services, func(name string, s *service) error { return r.await(ctx, name, s) })
}

// instanceOf returns the parameters that name an instance.
func instanceOf(name string, s *service) url.Values {
	host, port, _ := net.SplitHostPort(s.address)
	return url.Values{"serviceName": {"DEFAULT_GROUP@@" + name}, "ip": {host}, "port": {port}}
}

func (r *nacosRegistry) register(ctx context.Context, name string, s *service) error {
	query := instanceOf(name, s)
	query.Set("metadata", fmt.Sprintf(`{"openapi": %q, "selected": %q}`, s.path(), selected(name)))
	_, err := r.send(ctx, http.MethodPost, "/v1/ns/instance?"+query.Encode(), "", nil)
	return err
}

// await returns when the server lists the one instance of a service, or none for nil.
func (r *nacosRegistry) await(ctx context.Context, name string, s *service) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	want := ""
	if s != nil {
		want = strconv.Itoa(s.port()) + s.path()
	}
	return r.server.Await(ctx, func(ctx context.Context) error {
		text, err := r.send(ctx, http.MethodGet, "/v1/ns/instance/list?serviceName=DEFAULT_GROUP%40%40"+name, "", nil)
		if err != nil {
			return err
		}
		var list struct {
			Hosts []struct {
				Port     int               `json:"port"`
				Metadata map[string]string `json:"metadata"`
			} `json:"hosts"`
		}
		if err := json.Unmarshal(text, &list); err != nil {
			return err
		}
		var shown strings.Builder
		for _, h := range list.Hosts {
			shown.WriteString(strconv.Itoa(h.Port) + h.Metadata["openapi"])
		}
		if shown.String() != want {
			return fmt.Errorf("expected %q, the server shows %q", want, shown.String())
		}
		return nil
	})
}

// beat sends the heartbeat of a service, at the interval that clients have by default.
func (r *nacosRegistry) beat(ctx context.Context, name string, s *service) error {
	answer, err := r.send(ctx, http.MethodPut, "/v1/ns/instance/beat?"+instanceOf(name, s).Encode(), "", nil)
	if bytes.Contains(answer, []byte(`"code":20404`)) {
		err = errors.Join(err, r.register(ctx, name, s))
	}
	return err
}
