package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"drawbridge/auth/authtest"
	"drawbridge/test/process"
	"drawbridge/test/wire"
)

// gateway is a running gateway with all checks on: tokens, rates that nobody reaches, room, breaker, and an audit log.
type gateway struct {
	child *process.Child
	host  string
	admin string
	token string
}

// api is what the gateway is to serve.
type api struct {
	spec    string // path of a document
	baseURL string
	output  string // loose or off
	console string // further keys of admin
}

// startGateway starts the program and returns at once: see ready.
func startGateway(ctx context.Context, program, dir string, iss *authtest.Server, a api) (*gateway, error) {
	host, err := process.FreeAddress()
	if err != nil {
		return nil, err
	}
	admin, err := process.FreeAddress()
	if err != nil {
		return nil, err
	}
	token, err := iss.Issue(authtest.Token{
		Subject: "tester", ClientID: "test", Audience: []string{"http://" + host + "/mcp"}, Scopes: []string{"mcp:tools"}, Life: 23 * time.Hour,
	})
	if err != nil {
		return nil, err
	}
	file, lines := filepath.Join(dir, "gateway-"+host+".yaml"), filepath.Join(dir, "audit")
	if err := os.MkdirAll(lines, 0o700); err != nil { // a folder of its own: the gateway looks at all that is done in that of its configuration
		return nil, fmt.Errorf("make the folder of the audit log: %w", err)
	}
	text := fmt.Sprintf(`server: {listen: %q, shutdown_delay: 0s, drain_timeout: 5s}
admin: {listen: %q%s}
auth:
  issuers: [{issuer: %q}]
  default_scopes: [mcp:tools]
apis:
  - {spec: %q, name: bench, base_url: %q, output_schemas: %s, rate: {rate: 1000000/s, burst: 1000000}}
limits: {principal_rate: {rate: 1000000/s, burst: 1000000}, max_result_tokens: 0}
audit: {file: %q}
tools: {presentation: all}
telemetry: {log_level: error}
`, host, admin, a.console, iss.Issuer(), a.spec, a.baseURL, a.output, filepath.Join(lines, host+".jsonl"))
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return nil, fmt.Errorf("write config: %w", err)
	}
	child, err := process.Start(ctx, program, "serve", "--config", file)
	if err != nil {
		return nil, err
	}
	return &gateway{child: child, host: host, admin: admin, token: token}, nil
}

// ready waits until the gateway lists a tool, and returns that list.
func (g *gateway) ready(ctx context.Context, e string) (list []byte, err error) {
	err = g.child.Await(ctx, func(context.Context) error {
		c := &wire.Client{Host: g.host, Revision: e, Token: g.token}
		if err := c.Connect(); err != nil {
			return err
		}
		conn, err := wire.Dial(g.host)
		if err != nil {
			return err
		}
		defer conn.Close()
		a, err := conn.Exchange([]byte(c.List("")))
		if err != nil {
			return err
		}
		if a.Status != 200 {
			return fmt.Errorf("tools/list: status %d: %.300s", a.Status, a.Body)
		}
		if countTools(a.Body) == 0 {
			return errors.New("tools/list: no tools yet")
		}
		list = a.Body
		return nil
	})
	return list, err
}
