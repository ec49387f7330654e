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

// readyTimeout is how long a gateway may take to say that it is ready. It answers from memory.
const readyTimeout = 2 * time.Second

func (p *program) readyCommand() *cobra.Command {
	var alive bool
	var address string
	c := &cobra.Command{
		Use:   "ready --config FILE",
		Short: "Tell whether the gateway that runs here with that configuration is ready",
		Long: `Ready asks the admin listener (admin.listen) for /readyz, as probes do. It is for engines that check a container by a
program inside of it, such as Docker: the image has no shell and no curl. Kubernetes asks by itself.

The gateway listens where it began to, whatever the file says now. A file that can't be used any more is no reason not to be
ready: its admin.listen is asked all the same, or, where not even that can be read, the default. With --address no file is read.

Exit codes: 0 ready (with --alive: alive), 1 not, 2 on bad usage, and where nobody answers and the configuration is bad.`,
		Example: `  drawbridge ready --config /etc/drawbridge/drawbridge.yaml
  drawbridge ready --address localhost:9090`,
	}
	p.configFlag(c)
	c.Flags().StringVar(&address, "address", "", "host:port of the admin listener, in the place of what the configuration says")
	c.Flags().BoolVar(&alive, "alive", false, "ask for /healthz: whether the process answers at all")
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
		status, err := ask(c.Context(), "http://"+local(listen)+path)
		switch {
		case err != nil && problems.Err() != nil:
			p.print(problems)
			fmt.Fprintf(p.stderr, "drawbridge: %v; if a gateway runs with an earlier configuration, give its admin.listen with --address\n", err)
			return exitError(exitUsage)
		case err != nil && address == "":
			return fmt.Errorf("%w; if it runs since before admin.listen was changed, give the earlier one with --address", err)
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

// adminListen returns where the gateway that runs with a configuration may listen, and what is wrong with the configuration: it may
// have been changed since the gateway read it.
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

// local is the address at which a listener is reached from the machine that it is on: one for all addresses at loopback.
func local(a config.Address) string {
	if ip := net.ParseIP(a.Host()); a.Host() == "" || ip != nil && ip.IsUnspecified() {
		return net.JoinHostPort("localhost", a.Port())
	}
	return a.String()
}

// ask returns what the status of the answer is called.
func ask(ctx context.Context, url string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	// No proxy: the gateway is here.
	transport := &http.Transport{DisableKeepAlives: true}
	defer transport.CloseIdleConnections()
	resp, err := transport.RoundTrip(r)
	if err != nil {
		return "", fmt.Errorf("ask the gateway: %w", err)
	}
	defer resp.Body.Close()
	return http.StatusText(resp.StatusCode), nil
}
