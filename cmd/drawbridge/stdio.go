package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os/signal"
	"sync"
	"syscall"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"drawbridge/config"
	"drawbridge/gateway"
)

func (p *program) stdioCommand() *cobra.Command {
	var endpoint string
	c := &cobra.Command{
		Use:   "stdio [--config FILE | DOCUMENT]",
		Short: "Serve the tools on standard input and output, for a host that starts the program",
		Long: `Stdio serves one MCP client that starts the program itself, such as a desktop application or an editor: messages on
standard input and output, one per line, logs on standard error. Configure the command in the host, with absolute paths:

  {
    "mcpServers": {
      "orders": {"command": "drawbridge", "args": ["stdio", "--config", "/etc/drawbridge/orders.yaml"]}
    }
  }

The configuration is that of serve, but there are no listeners, neither for clients nor for operators. No token is
required, since the user that starts the program has all of its permissions anyway: 'auth' and scopes have no effect. Rules
for single calls still apply: a 'condition' sees a caller without a subject and without claims. Secrets are best given as
${NAME} or ${file:PATH}, the former from the "env" of the host's entry.

Configuration and documents are watched and reloaded as by serve. The end of the input, SIGTERM and SIGINT end the
program when running calls have ended, at most server.drain_timeout later; a second signal ends it at once. SIGHUP
reloads everything.

Exit codes: 0 after the end of the input or a signal, 1 on failure while running, 2 on bad usage or configuration.`,
		Example: `  drawbridge stdio --config /etc/drawbridge/orders.yaml
  drawbridge stdio https://orders.internal/openapi.json
  claude mcp add orders -- drawbridge stdio --config /etc/drawbridge/orders.yaml`,
	}
	p.configFlag(c)
	p.baseURLFlag(c)
	p.servingFlags(c)
	c.Flags().StringVar(&endpoint, "endpoint", "", "serve only the tools of this endpoint of the configuration")
	complete(c, "endpoint", p.completeEndpoint)
	c.RunE = func(c *cobra.Command, args []string) error {
		location, cfg, problems, err := p.running(c, args)
		if err != nil {
			return err
		}
		return p.stdio(c.Context(), c.InOrStdin(), location, cfg, problems, endpoint)
	}
	return c
}

func (p *program) stdio(ctx context.Context, in io.Reader, location string, cfg *config.Config, problems config.Problems, endpoint string) error {
	// A host that has gone must not kill the program in the middle of a call: a failed write ends
	// it in order.
	signal.Ignore(syscall.SIGPIPE)
	log, level := newLogger(p.stderr, cfg.Telemetry, p.getenv)
	warn(log, problems)
	metrics := prometheus.NewRegistry()
	exported, err := export(ctx, &cfg.Telemetry, version, metrics, log)
	if err != nil {
		return err
	}
	defer exported.end(log)
	audits, err := newAudit(cfg, nil, log, nil)
	if err != nil {
		return err
	}
	defer audits.end(log)
	configFile, stateDirs := p.recorded(location, cfg)
	g, err := gateway.New(gateway.Options{
		Config: cfg, Version: version, Logger: log, Metrics: metrics, TracerProvider: exported.tracers, MeterProvider: exported.meters, Local: true, InUse: level.follow, Audit: audits.log,
		LoadConfig: p.reloader(location, cfg.IsBare(), log), ConfigFile: configFile, StateDirs: stateDirs, Accept: p.accept,
	})
	if err != nil {
		return usageError{err, nil}
	}
	running, cancel := context.WithCancel(ctx)
	defer cancel()
	calls, cut := context.WithCancel(ctx)
	defer cut()
	stop := make(chan struct{})
	group, groupCtx := errgroup.WithContext(running)
	group.Go(func() error { return g.Run(groupCtx) })
	group.Go(func() error {
		p.awaitEnd(groupCtx, g, audits, log, stop, cut)
		return nil
	})
	group.Go(func() error {
		defer cancel()
		log.Info("serving on standard input and output", "version", version)
		err := g.ServeLines(calls, in, p.stdout, gateway.LineOptions{Endpoint: endpoint, Stop: stop})
		switch {
		case errors.Is(err, gateway.ErrUnknownEndpoint):
			return usageError{err, nil}
		case errors.Is(err, gateway.ErrCut):
			log.Warn("cancelling calls that are still running", "error", err)
			return nil
		case errors.Is(err, context.Canceled): // by a second signal
			return nil
		}
		return err
	})
	return refused(group.Wait())
}

// awaitEnd handles signals until ctx ends: the first closes stop, so that running calls end, the
// second cancels them. The end of ctx closes stop too.
func (p *program) awaitEnd(ctx context.Context, g *gateway.Gateway, audits *auditing, log *slog.Logger, stop chan<- struct{}, cut func()) {
	var logging sync.WaitGroup // logging may block on its reader, which the next signal must not wait for
	defer logging.Wait()
	defer resetSignals()
	for signals := 0; ; {
		select {
		case <-ctx.Done():
			if signals == 0 {
				close(stop)
			}
			return
		case sig := <-p.signals:
			switch {
			case sig == syscall.SIGHUP:
				audits.reopen()
				g.RequestReload()
				continue
			case signals == 0:
				close(stop)
				logging.Go(func() { log.Info("draining", "signal", sig.String()) })
			default:
				resetSignals()
				cut()
				logging.Go(func() { log.Warn("shutting down immediately", "signal", sig.String()) })
			}
			signals++
		}
	}
}
