package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"drawbridge/auth/authtest"
	"drawbridge/test/process"
)

// adminToken is the token of the admin listener of all gateways.
const adminToken = "the-token-of-the-operator-0123456789"

// pair is two gateways behind nginx, with an identity provider.
type pair struct {
	name     string
	dir      string
	front    string // address of nginx
	token    string
	idp      *authtest.Server
	nginx    *process.Child
	replicas [2]*replica
	// config is the configuration of both, with $PAIR for the directory of the pair.
	config string
}

// replica is one gateway, whose configuration is drawbridge.yaml in a directory of its own.
type replica struct {
	dir         string
	host, admin string
	disk        *process.Disk
	child       *process.Child
}

// newPair starts one. config is what the configuration has besides addresses, keys, the issuer and the audit log.
func newPair(ctx context.Context, o options, dir, name, config string) (p *pair, err error) {
	p = &pair{name: name, dir: filepath.Join(dir, name)}
	p.config = strings.ReplaceAll(config, "$PAIR", p.dir)
	if err := os.MkdirAll(p.dir, 0o700); err != nil {
		return p, err
	}
	if p.front, err = process.FreeAddress(); err != nil {
		return p, err
	}
	resource := "http://" + p.front + "/mcp"
	if p.idp, err = authtest.Start(authtest.Options{Resources: []string{resource}, DefaultResource: resource}); err != nil {
		return p, err
	}
	if p.token, err = p.idp.Issue(authtest.Token{Scopes: []string{"mcp:tools"}, Life: time.Hour}); err != nil {
		return p, err
	}
	for i := range p.replicas {
		r := &replica{dir: filepath.Join(p.dir, fmt.Sprintf("gateway%d", i))}
		p.replicas[i] = r
		if err := os.Mkdir(r.dir, 0o700); err != nil {
			return p, err
		}
		if r.disk, err = process.NewDisk(filepath.Join(r.dir, "audit")); err != nil {
			return p, err
		}
		for _, address := range []*string{&r.host, &r.admin} {
			if *address, err = process.FreeAddress(); err != nil {
				return p, err
			}
		}
		if err := errors.Join(r.write("drawbridge.yaml", p.text(r, true)), r.start(ctx, o.program), r.await(ctx, http.StatusOK)); err != nil {
			return p, fmt.Errorf("%s: %w", name, err)
		}
	}
	return p, p.startNginx(ctx, o.nginx)
}

// text is the configuration of a replica; without kept it keeps nothing between starts.
func (p *pair) text(r *replica, kept bool) string {
	state := ""
	if kept {
		state = fmt.Sprintf("state_dir: %q, ", filepath.Join(r.dir, "state"))
	}
	return fmt.Sprintf(`server: {listen: %q, public_url: "http://%s", trusted_proxies: [127.0.0.1], %sready: tried, shutdown_delay: 1s, drain_timeout: 3s, seal_keys: [the-key-of-all-replicas-0123456789]}
admin: {listen: %q, token: %s}
auth: {issuers: [{issuer: %q}], default_scopes: [mcp:tools]}
tools: {prefix: never}
audit: {file: %q}
telemetry: {log_level: warn}
%s`, r.host, p.front, state, r.admin, adminToken, p.idp.Issuer(), r.disk.File(), p.config)
}

func (p *pair) startNginx(ctx context.Context, program string) error {
	example, err := os.ReadFile("deploy/nginx/drawbridge.conf")
	if err != nil {
		return err
	}
	text, err := process.PairForNginx(string(example), p.front, [2]string{p.replicas[0].host, p.replicas[1].host})
	if err != nil {
		return err
	}
	file := filepath.Join(p.dir, "nginx.conf")
	if err := os.WriteFile(file, []byte(process.NginxConfig(p.dir, text)), 0o600); err != nil {
		return err
	}
	p.nginx, err = process.Start(ctx, program, "-p", p.dir, "-e", "stderr", "-c", file)
	return err
}

func (p *pair) close() error {
	var errs []error
	if p.nginx != nil {
		errs = append(errs, p.nginx.Stop())
	}
	for _, r := range p.replicas {
		if r == nil {
			continue
		}
		if r.child != nil {
			errs = append(errs, r.child.Stop())
		}
		if r.disk != nil {
			errs = append(errs, r.disk.Close())
		}
	}
	if p.idp != nil {
		errs = append(errs, p.idp.Close())
	}
	return errors.Join(errs...)
}

// write writes a file into the replica's directory.
func (r *replica) write(name, text string) error {
	return os.WriteFile(filepath.Join(r.dir, name), []byte(text), 0o600)
}

func (r *replica) start(ctx context.Context, program string) (err error) {
	r.child, err = process.Start(ctx, program, "serve", "--config", filepath.Join(r.dir, "drawbridge.yaml"))
	return err
}

// await waits for an answer to readiness probes.
func (r *replica) await(ctx context.Context, want int) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	return r.child.Await(ctx, func(ctx context.Context) error { return r.readiness(ctx, want) })
}

// readiness is an error unless a readiness probe gets the status.
func (r *replica) readiness(ctx context.Context, want int) error {
	status, text, err := r.get(ctx, "/readyz")
	if err == nil && status != want {
		err = fmt.Errorf("/readyz answers %d %s, want %d", status, text, want)
	}
	return err
}

// get asks the admin listener.
func (r *replica) get(ctx context.Context, path string) (status int, text string, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+r.admin+path, nil)
	if err != nil {
		return 0, "", err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return resp.StatusCode, strings.TrimSpace(string(body)), err
}
