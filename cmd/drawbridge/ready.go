package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"drawbridge/config"
)

// readyTimeout is the timeout of the probe, which the gateway answers from memory.
const readyTimeout = 2 * time.Second

func (p *program) readyCommand() *cobra.Command {
	var alive bool
	var address string
	c := &cobra.Command{
		Use:   "ready --config FILE",
		Short: "Check whether the gateway that runs here with a configuration is ready",
		Long: `Ready sends a readiness probe (/readyz) to the admin listener (admin.listen). It is for container engines whose health
checks run a program in the container, such as Docker: the image has no shell and no curl. Kubernetes sends probes itself.

A running gateway keeps its address when the file changes. An invalid file does not make it unready: its admin.listen is
used nevertheless or, if even that can't be read, the default. With --address no file is read. If its host is a name with
several addresses, such as a headless Service of Kubernetes, the gateway at each of them must be ready.

Exit codes: 0 if ready (with --alive: alive), 1 if not, 2 on bad usage, or if there is no response and the configuration is
invalid.`,
		Example: `  drawbridge ready --config /etc/drawbridge/drawbridge.yaml
  drawbridge ready --address localhost:9090`,
	}
	p.configFlag(c)
	c.Flags().StringVar(&address, "address", "", "host:port of the admin listener, instead of that of the configuration")
	c.Flags().BoolVar(&alive, "alive", false, "request /healthz instead: whether the process responds at all")
	c.RunE = func(c *cobra.Command, args []string) error {
		listen := config.Address(address)
		var problems config.Problems
		if address == "" {
			location, _, err := p.location(c, args, 0)
			if err != nil {
				return err
			}
			listen, problems = p.adminListen(location)
		} else if len(args) > 0 {
			return usageError{fmt.Errorf("%s: unexpected argument %q", c.CommandPath(), args[0]), c}
		} else if _, _, err := net.SplitHostPort(address); err != nil {
			return usageError{fmt.Errorf("%s: --address must be host:port, got %q", c.CommandPath(), address), c}
		}
		path := "/readyz"
		if alive {
			path = "/healthz"
		}
		status, err := probeAll(c.Context(), listen, path, net.DefaultResolver.LookupHost)
		switch {
		case err != nil && problems.Err() != nil:
			p.print(problems)
			fmt.Fprintf(p.stderr, "drawbridge: %v; if the gateway runs with an earlier configuration, give its admin.listen with --address\n", err)
			return exitError(exitUsage)
		case err != nil && address == "":
			return fmt.Errorf("%w; if admin.listen was changed since the gateway was started, give the earlier one with --address", err)
		case err != nil:
			return err
		}
		fmt.Fprintln(p.stdout, status)
		if status != http.StatusText(http.StatusOK) {
			return exitError(exitFail)
		}
		return nil
	}
	return c
}

// adminListen returns the likely address of the running gateway's admin listener, and the problems
// of the configuration, which may have been changed since the gateway has read it.
func (p *program) adminListen(location string) (config.Address, config.Problems) {
	cfg, problems := config.Load(location, p.getenv)
	if cfg != nil {
		return cfg.Admin.Listen, nil
	}
	if listen, ok := config.AdminListen(location, p.getenv); ok {
		return listen, problems
	}
	return config.DefaultAdminListen(), problems
}

// local returns the address at which a listener is reached from the same machine: loopback if it
// listens on all addresses.
func local(a config.Address) string {
	if ip := net.ParseIP(a.Host()); a.Host() == "" || ip != nil && ip.IsUnspecified() {
		return net.JoinHostPort("localhost", a.Port())
	}
	return a.String()
}

// probeAll probes each address of a listener, up to the first that is not ready, and returns the status text of the last response. A name is
// resolved here, since an admin listener accepts IP addresses and no names of other machines.
func probeAll(ctx context.Context, listen config.Address, path string, lookup func(ctx context.Context, host string) ([]string, error)) (status string, err error) {
	near := config.Address(local(listen))
	hosts := []string{near.Host()}
	if net.ParseIP(near.Host()) == nil && !near.Loopback() {
		if hosts, err = lookup(ctx, near.Host()); err != nil {
			return "", fmt.Errorf("ask the gateway: %w", err)
		}
	}
	for _, host := range hosts {
		status, err = probe(ctx, "http://"+net.JoinHostPort(host, near.Port())+path)
		if err != nil || status != http.StatusText(http.StatusOK) {
			return status, err
		}
	}
	return status, nil
}

// probe returns the status text of the response.
func probe(ctx context.Context, url string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	resp, err := getDirectly(ctx, url)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	return http.StatusText(resp.StatusCode), nil
}
