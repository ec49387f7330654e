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
	c := &cobra.Command{
		Use:   "ready --config FILE",
		Short: "Tell whether the gateway that runs here with that configuration is ready",
		Long: `Ready asks the admin listener (admin.listen) for /readyz, as probes do. It is for engines that check a container by a
program inside of it, such as Docker: the image has no shell and no curl. Kubernetes asks by itself.

Exit codes: 0 ready (with --alive: alive), 1 not, 2 on bad usage or configuration.`,
		Example: `  drawbridge ready --config /etc/drawbridge/drawbridge.yaml`,
	}
	p.configFlag(c)
	c.Flags().BoolVar(&alive, "alive", false, "ask for /healthz: whether the process answers at all")
	c.RunE = func(c *cobra.Command, args []string) error {
		location, _, err := p.location(c, args, 0)
		if err != nil {
			return err
		}
		cfg, err := p.load(location)
		if err != nil {
			return err
		}
		path := "/readyz"
		if alive {
			path = "/healthz"
		}
		status, err := ask(c.Context(), "http://"+local(cfg.Admin.Listen)+path)
		if err != nil {
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
