package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"drawbridge/test/openload"
	"drawbridge/test/process"
)

// find looks for a program of the system.
func find(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		if path, err = exec.LookPath("/usr/sbin/" + name); err != nil {
			return "", &notRun{name + " is not there; test/chaos/run installs it"}
		}
	}
	return path, nil
}

// haproxy asks the replicas by itself whether they are ready, so an operator has nothing to do.
type haproxy struct{ child *process.Child }

// startHAProxy starts HAProxy with the example of deploy/haproxy, in which only names and places are others.
func startHAProxy(ctx context.Context, s *suite, front string, replicas []*gateway) (balancer, error) {
	program, err := find("haproxy")
	if err != nil {
		return nil, err
	}
	example, err := os.ReadFile(filepath.Join(s.root, "deploy/haproxy/haproxy.cfg"))
	if err != nil {
		return nil, err
	}
	health, err := process.FreeAddress()
	if err != nil {
		return nil, err
	}
	servers := ""
	for i, g := range replicas {
		_, port, err := net.SplitHostPort(g.admin)
		if err != nil {
			return nil, err
		}
		servers += fmt.Sprintf("    server gateway%d %s check port %s\n", i, g.host, port)
	}
	text, err := replaced(string(example), map[string]string{
		"bind :8080\n":                                 "bind " + front + "\n",
		"maxconn 20000":                                "maxconn 2000", // it counts descriptors beforehand
		"bind 127.0.0.1:8404":                          "bind " + health,
		"check port 9090 ":                             "check ",
		" resolvers docker init-addr libc,none":        "",
		"    server-template gateway 3 gateway:8080\n": servers,
	})
	if err != nil {
		return nil, fmt.Errorf("deploy/haproxy/haproxy.cfg: %w", err)
	}
	before, rest, found := strings.Cut(text, "resolvers docker\n")
	if found { // there is no DNS of Docker's here
		_, backend, _ := strings.Cut(rest, "\nbackend ")
		text = before + "\nbackend " + backend
	}
	file, err := s.write("haproxy.cfg", text)
	if err != nil {
		return nil, err
	}
	h := &haproxy{}
	if h.child, err = process.Start(ctx, program, "-db", "-f", file); err != nil {
		return nil, err
	}
	return h, serves(ctx, h.child, front)
}

func (h *haproxy) out(context.Context, int) error { return nil }

// in waits for the next look of HAProxy's: only one replica at a time may be out.
func (h *haproxy) in(ctx context.Context, _ int) error {
	if !openload.Pause(ctx, 1500*time.Millisecond) {
		return ctx.Err()
	}
	return nil
}

func (h *haproxy) stop() error {
	err := h.child.Stop()
	if err != nil && strings.Contains(err.Error(), "signal: terminated") {
		return nil // which it leaves to the system
	}
	return err
}

// nginx takes replicas for good until a connection fails, so an operator marks one as down before it ends.
type nginx struct {
	child    *process.Child
	s        *suite
	file     string
	text     string
	replicas []*gateway
}

// startNginx starts nginx with the example of deploy/nginx, in which only names and places are others, without TLS.
func startNginx(ctx context.Context, s *suite, front string, replicas []*gateway) (balancer, error) {
	program, err := find("nginx")
	if err != nil {
		return nil, err
	}
	example, err := os.ReadFile(filepath.Join(s.root, "deploy/nginx/drawbridge.conf"))
	if err != nil {
		return nil, err
	}
	servers, again := "", ""
	for _, g := range replicas {
		servers += "    server " + g.host + " fail_timeout=2s;\n"
		again += "    server " + g.host + " max_fails=0;\n"
	}
	text, err := replaced(string(example), map[string]string{
		"    server 10.0.0.11:8080 fail_timeout=2s;\n    server 10.0.0.12:8080 fail_timeout=2s;\n": servers,
		"    server 10.0.0.11:8080 max_fails=0;\n    server 10.0.0.12:8080 max_fails=0;\n":         again,
		"    listen 443 ssl;\n    http2 on;\n":                                                     "    listen " + front + ";\n",
		"    ssl_certificate     /etc/nginx/tls/mcp.example.com.pem;\n":                            "",
		"    ssl_certificate_key /etc/nginx/tls/mcp.example.com.key;\n":                            "",
	})
	if err != nil {
		return nil, fmt.Errorf("deploy/nginx/drawbridge.conf: %w", err)
	}
	n := &nginx{s: s, replicas: replicas, text: process.NginxConfig(s.dir, text)}
	if n.file, err = s.write("nginx.conf", n.text); err != nil {
		return nil, err
	}
	if n.child, err = process.Start(ctx, program, "-p", s.dir, "-e", "stderr", "-c", n.file); err != nil {
		return nil, err
	}
	return n, serves(ctx, n.child, front)
}

// out marks a replica as down and lets nginx reload. The old worker serves what it has, on connections that it then closes.
func (n *nginx) out(ctx context.Context, replica int) error {
	server := "    server " + n.replicas[replica].host
	return n.reload(ctx, strings.Replace(n.text, server+" fail_timeout", server+" down fail_timeout", 1))
}

func (n *nginx) in(ctx context.Context, _ int) error { return n.reload(ctx, n.text) }

func (n *nginx) reload(ctx context.Context, text string) error {
	if err := os.WriteFile(n.file, []byte(text), 0o600); err != nil {
		return err
	}
	before := workersOf(n.child.PID())
	if err := syscall.Kill(n.child.PID(), syscall.SIGHUP); err != nil {
		return err
	}
	for end := time.Now().Add(15 * time.Second); ; {
		if !openload.Pause(ctx, 20*time.Millisecond) {
			return ctx.Err()
		}
		left := 0
		now := workersOf(n.child.PID())
		for pid := range now {
			if before[pid] {
				left++
			}
		}
		if left == 0 && len(now) > 0 {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("nginx's old worker goes on after a reload: %s", n.child.Log())
		}
	}
}

// workersOf are the children of a process.
func workersOf(pid int) map[string]bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	workers := map[string]bool{}
	if err == nil {
		for child := range strings.FieldsSeq(string(text)) {
			workers[child] = true
		}
	}
	return workers
}

func (n *nginx) stop() error { return n.child.Stop() }

// serves waits until a proxy passes requests on to a gateway that is ready.
func serves(ctx context.Context, child *process.Child, front string) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	client := &http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	return child.Await(ctx, func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+front+"/.well-known/oauth-protected-resource", nil)
		if err != nil {
			return err
		}
		resp, err := client.Do(req)
		if err != nil {
			return err
		}
		resp.Body.Close()
		if resp.StatusCode >= 500 {
			return fmt.Errorf("%s answers %s", front, resp.Status)
		}
		return nil
	})
}
