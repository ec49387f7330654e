package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"drawbridge/cmd/drawbridge/terminal"
	"drawbridge/config"
	"drawbridge/gateway"
	"drawbridge/gateway/listener"
)

func (p *program) serveCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "serve [--config FILE | DOCUMENT]",
		Short: "Serve the tools at /mcp until told to stop",
		Long: `Serve reads all documents, serves as soon as one of them can be used, and tries the others again.

Configuration and document files are watched, documents from URLs are asked for changes every 'refresh'.
SIGHUP and POST /reload on the admin listener read everything again. A change is used as a whole or not at all; a new
certificate (server.tls) is used by itself, and by new connections only. SIGHUP also reopens the file of the audit log.
A change of the file that gives more access is held until SIGHUP or POST /reload accepts it; at the start --accept does, where
server.state_dir has a record of what ran before.
SIGTERM and SIGINT drain: /readyz turns 503, running calls end, then the program does. A second one ends it at once.
Ctrl-C at a terminal does not wait for server.shutdown_delay, so that it ends at once when no call is running.

Exit codes: 0 after a drain, 1 on failure while running, 2 on bad usage or configuration.`,
		Example: `  drawbridge serve --config drawbridge.yaml
  drawbridge serve https://orders.internal/openapi.json`,
	}
	p.configFlag(c)
	p.baseURLFlag(c)
	p.servingFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		location, cfg, problems, err := p.running(c, args)
		if err != nil {
			return err
		}
		return p.serve(c.Context(), location, cfg, problems)
	}
	return c
}

// running loads the configuration of a command that runs until it is told to stop: warnings are for its log, errors are
// printed.
func (p *program) running(c *cobra.Command, args []string) (location string, cfg *config.Config, problems config.Problems, err error) {
	if location, _, err = p.location(c, args, 0); err != nil {
		return "", nil, nil, err
	}
	if p.config == "" {
		cfg, problems = config.LoadWith(location, p.getenv, p.loadOptions())
	}
	if p.config != "" || cfg != nil && !cfg.IsBare() { // what --config names is a configuration file, and nothing else is taken for one
		cfg, problems = config.LoadSettled(location, false, p.getenv, p.loadOptions())
	}
	if cfg == nil {
		p.print(problems)
		return "", nil, nil, exitError(exitUsage)
	}
	p.log.override(&cfg.Telemetry)
	return location, cfg, problems, nil
}

func (p *program) serve(ctx context.Context, location string, cfg *config.Config, problems config.Problems) error {
	// A log collector that was closed, or is started anew, ends nothing.
	signal.Ignore(syscall.SIGPIPE)
	log, level := newLogger(p.stderr, cfg.Telemetry, p.getenv)
	warn(log, problems)
	metrics := prometheus.NewRegistry()
	exported, err := export(ctx, &cfg.Telemetry, version, metrics, log)
	if err != nil {
		return err
	}
	defer exported.end(log)
	audits, err := newAudit(cfg, p.stdout, log, metrics)
	if err != nil {
		return err
	}
	defer audits.end(log)
	var own *certificate
	if cfg.Server.TLS != nil {
		if own, err = newCertificate(cfg.Server.TLS, log, metrics); err != nil {
			return usageError{err, nil}
		}
	}
	limitMemory(log)
	tuneMemory(p.getenv, growthReading)
	load := p.reloader(location, cfg.IsBare(), log)
	configFile, stateDirs := p.recorded(location, cfg)
	g, err := gateway.New(gateway.Options{
		Config: cfg, Version: version, Logger: log, Metrics: metrics, TracerProvider: exported.tracers, MeterProvider: exported.meters, InUse: level.follow, Audit: audits.log,
		ConfigFile: configFile, StateDirs: stateDirs, Accept: p.accept,
		LoadConfig: func(kept *config.Kept) (*config.Config, error) {
			if own != nil { // whatever else is wrong: a certificate must not grow old because of a rule
				own.reload()
			}
			return load(kept)
		},
	})
	if err != nil {
		return usageError{err, nil}
	}
	s := &server{gateway: g, config: cfg, location: location, certificate: own, audits: audits, log: log, signals: p.signals, attended: p.screen != nil, screen: p.console(cfg), colour: colours(p.getenv), banner: true, onServing: func(ctx context.Context) error {
		g.Keep(ctx, "memory was followed", func() { followMemory(ctx, p.getenv, g.Reading) })
		return nil
	}}
	if err := s.listen(ctx); err != nil {
		return err
	}
	warnAboutExposure(log, cfg)
	return refused(s.run(ctx))
}

// refused makes a usage error of a configuration that could not be used with its documents.
func refused(err error) error {
	var refusal *config.Refusal
	if errors.As(err, &refusal) {
		return usageError{err, nil}
	}
	return err
}

// servingFlags gives a command that serves --accept and the flags of its log, and --config its meaning there.
func (p *program) servingFlags(c *cobra.Command) {
	c.Flags().Lookup("config").Usage = "configuration file (default drawbridge.yaml in the working directory)"
	c.Flags().BoolVar(&p.accept, "accept", false, "start with a configuration that gives more access than the last one that ran")
	p.log.flags(c)
}

// recorded returns the configuration file whose access is recorded, and where besides server.state_dir. systemd names a directory
// (StateDirectory=) that does not depend on what is left of the file.
func (p *program) recorded(location string, cfg *config.Config) (file string, dirs []string) {
	if cfg.IsBare() {
		return "", nil
	}
	return location, filepath.SplitList(p.getenv("STATE_DIRECTORY"))
}

// reloader reads the configuration anew; warnings go to the log. A configuration file stays one, and so does a document: authors of
// documents must not configure the gateway.
func (p *program) reloader(location string, bare bool, log *slog.Logger) func(kept *config.Kept) (*config.Config, error) {
	return func(kept *config.Kept) (*config.Config, error) {
		o := p.loadOptions()
		o.Kept = kept
		c, problems := config.LoadSettled(location, bare, p.getenv, o)
		if c != nil {
			p.log.override(&c.Telemetry)
		}
		if kept == nil { // else they were logged
			warn(log, problems)
		}
		return c, problems.Err()
	}
}

func warn(log *slog.Logger, problems config.Problems) {
	for _, w := range problems.Warnings() {
		log.Warn("configuration", "problem", w.String())
	}
}

// server is the running program: two listeners, the gateway, and the signals.
type server struct {
	gateway     *gateway.Gateway
	config      *config.Config
	certificate *certificate // of the listener for clients; nil: it speaks HTTP in clear
	audits      *auditing
	log         *slog.Logger
	signals     <-chan os.Signal
	// onServing, if set, is called when the first API is served. run ends with its error.
	onServing func(ctx context.Context) error
	quick     bool // no shutdown delay: nobody routes to this process
	// attended tells that a person looks on, to whom an interrupt belongs: it skips the shutdown delay.
	attended bool
	screen   *terminal.Screen // the terminal of that person, unless the log on it is JSON
	colour   bool             // what is written to screen may be coloured
	location string           // of the configuration, for commands that a person can copy
	banner   bool             // print the start banner on screen

	public *listener.Listener
	admin  net.Listener
	opened net.Listener // the public one, if it is open already; nil if listen opens it
}

// listen opens both listeners, so that a port that is taken is found before anything else is done.
func (s *server) listen(ctx context.Context) (err error) {
	if s.opened != nil {
		s.public = s.gateway.Listener(s.opened)
	} else if s.public, err = s.gateway.Listen(ctx, s.config.Server.Listen.String()); err != nil {
		return fmt.Errorf("server.listen: %w", err)
	}
	var lc net.ListenConfig
	if s.admin, err = lc.Listen(ctx, "tcp", s.config.Admin.Listen.String()); err != nil {
		return errors.Join(fmt.Errorf("admin.listen: %w", err), s.public.Close())
	}
	return nil
}

// run serves until a signal, the context or a failure ends it, and drains.
func (s *server) run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	// Calls outlive ctx: they end by themselves while the servers shut down, or when calls is cancelled.
	calls, cancelCalls := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancelCalls(nil)
	public := s.publicServer(calls)
	s.public.Attach(public)
	admin := s.adminServer(calls)

	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() error { return serveHTTP(public, s.public) })
	group.Go(func() error { return serveHTTP(admin, s.admin) })
	group.Go(func() error { return s.gateway.Run(groupCtx) })
	if s.certificate != nil {
		group.Go(func() (err error) {
			s.gateway.Keep(groupCtx, "the certificate was watched", func() { err = s.certificate.run(groupCtx) })
			return err
		})
	}
	if s.onServing != nil {
		group.Go(func() error {
			select {
			case <-s.gateway.Serving():
				return s.onServing(groupCtx)
			case <-groupCtx.Done():
				return nil
			}
		})
	}
	s.log.Info("listening", "mcp", s.config.Server.Scheme()+"://"+s.public.Addr().String()+"/mcp", "admin", "http://"+s.admin.Addr().String(), "version", version)
	if s.banner && s.screen != nil {
		group.Go(func() error {
			s.gateway.Keep(groupCtx, "the start banner was written", func() { s.announce(groupCtx) })
			return nil
		})
	}
	group.Go(func() error {
		sig := s.await(groupCtx)
		s.drain(sig, public, admin, func() { cancelCalls(gateway.ErrEnding) })
		resetSignals()
		cancelCalls(nil)
		cancel(nil)
		return nil
	})
	return group.Wait()
}

// await returns when the program is told to stop, with the signal that told it, if one did.
func (s *server) await(ctx context.Context) os.Signal {
	for {
		select {
		case <-ctx.Done():
			return nil
		case sig := <-s.signals:
			if sig != syscall.SIGHUP {
				return sig
			}
			s.audits.reopen()
			s.gateway.RequestReload()
		}
	}
}

// drain ends service without losing a call (O5): load balancers get the time to notice, then the listeners are
// closed, then running calls get the time to end; those that don't are cancelled, and their callers told. Another signal ends all
// at once, also when nobody reads the log. because is the first; nil: there was none.
func (s *server) drain(because os.Signal, public, admin *http.Server, cancelCalls func()) {
	c := s.gateway.Config() // what reloads have made of it
	s.gateway.Drain()
	ctx, stop := s.untilSignal()
	defer stop()
	delay := time.Duration(c.Server.ShutdownDelay)
	if s.quick || !s.hasServed() || s.attended && because == os.Interrupt { // load balancers are told by SIGTERM
		delay = 0
	}
	timeout := time.Duration(c.Server.DrainTimeout)
	if because != nil {
		calls, unread, streams := s.gateway.Busy()
		s.log.Info("draining", "signal", because.String(), "shutdown_delay", delay.String(),
			"drain_timeout", timeout.String(), "calls", calls, "unread_lists", unread, "streams", streams)
		defer s.sayStopping(delay, timeout)()
	}
	select {
	case <-time.After(delay):
	case <-ctx.Done():
	}
	s.endCalls(ctx, timeout, public, cancelCalls)
	_ = admin.Close()
}

// untilSignal returns a context that another signal ends. stop waits for the goroutine that receives signals.
func (s *server) untilSignal() (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	var watch sync.WaitGroup
	watch.Go(func() {
		for {
			select {
			case sig := <-s.signals:
				if sig != syscall.SIGHUP {
					resetSignals()
					cancel()
					s.log.Warn("shutting down immediately", "signal", sig.String())
				}
			case <-ended:
				return
			}
		}
	})
	return ctx, func() {
		close(ended)
		watch.Wait()
		cancel()
	}
}

// endCalls closes the listener for clients and waits for running calls and for answers that are still read, no longer than timeout.
// What is left then is cancelled and cut off. ctx is ended by another signal alone.
func (s *server) endCalls(ctx context.Context, timeout time.Duration, public *http.Server, cancelCalls func()) {
	bounded, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var streams sync.WaitGroup
	streams.Go(func() { // one may stay as long as a call does, and the listener must not
		if err := s.gateway.EndStreams(bounded); err != nil {
			s.log.Warn("closing streams that are still open", "error", err)
		}
	})
	s.public.Drain(bounded)
	err := public.Shutdown(bounded)
	streams.Wait() // no longer than bounded
	if err != nil {
		s.log.Warn("cancelling calls that are still running", "drain_timeout", timeout.String(), "error", err)
		s.gateway.EndCalls()
		cancelCalls()
		last, cancel := context.WithTimeout(ctx, lastAnswers)
		defer cancel()
		if err := public.Shutdown(last); err != nil {
			s.log.Warn("closing connections that are still open", "error", err)
			_ = public.Close()
		}
		_ = s.gateway.EndAnswers(last) // which is said
	} else if err := s.gateway.EndAnswers(bounded); err != nil {
		s.log.Warn("cutting off responses that clients have not read", "drain_timeout", timeout.String(), "error", err)
	} else {
		s.log.Info("drained")
	}
}

// hasServed tells whether an API was ever served: without one, no load balancer has sent anything here.
func (s *server) hasServed() bool {
	select {
	case <-s.gateway.Serving():
		return true
	default:
		return false
	}
}

// lastAnswers is how long those who are told that their calls were cancelled may take to hear it.
const lastAnswers = time.Second

// Timeouts of both listeners (H7). Bodies have deadlines that move on as they come ([listener.BodyPace]).
const (
	readHeaderTimeout = 5 * time.Second
	idleTimeout       = 90 * time.Second
	pingTimeout       = 30 * time.Second // HTTP/2: silence before a ping, and silence after it
	writeTimeout      = 10 * time.Second // HTTP/2: a connection that takes no byte
	// answerTimeout is for the answers that gateway/mcp does not write, from the head of the request on: a stream of HTTP/2
	// that may not send, and a client of HTTP/1 that asks and never reads. gateway/mcp has deadlines of its own instead.
	answerTimeout = listener.BodyStall + 2*time.Second // net/http may wait for a body before it answers
)

// publicServer serves clients: HTTP/1.1 and HTTP/2, with TLS if there is a certificate. In clear HTTP/2 is for a proxy that
// knows of it ("prior knowledge", RFC 9113 section 3.3): net/http takes no Upgrade to it, which is what made smuggling
// past proxies possible.
func (s *server) publicServer(calls context.Context) *http.Server {
	h := s.httpServer(s.gateway.Handler(), calls)
	h.HTTP2 = &http.HTTP2Config{
		MaxConcurrentStreams: 100, SendPingTimeout: pingTimeout, PingTimeout: pingTimeout, WriteByteTimeout: writeTimeout,
	}
	h.Protocols = new(http.Protocols)
	h.Protocols.SetHTTP1(true)
	if s.certificate == nil {
		h.Protocols.SetUnencryptedHTTP2(true)
		return h
	}
	h.Protocols.SetHTTP2(true)
	h.TLSConfig = s.certificate.config()
	return h
}

// adminServer serves operators, in clear.
func (s *server) adminServer(calls context.Context) *http.Server {
	return s.httpServer(listener.DefaultBodyPace(nil).Handler(s.gateway.Admin()), calls)
}

func (s *server) httpServer(h http.Handler, calls context.Context) *http.Server {
	return &http.Server{
		Handler: h, ReadHeaderTimeout: readHeaderTimeout, WriteTimeout: answerTimeout, IdleTimeout: idleTimeout,
		MaxHeaderBytes: int(s.config.Limits.MaxHeader),
		BaseContext:    func(net.Listener) context.Context { return calls },
		ErrorLog:       serverErrors{s.log}.logger(),
		// net/http would answer "OPTIONS *" by itself, past all that stands around h.
		DisableGeneralOptionsHandler: true,
	}
}

func serveHTTP(s *http.Server, l net.Listener) error {
	serve := s.Serve
	if s.TLSConfig != nil {
		serve = func(l net.Listener) error { return s.ServeTLS(l, "", "") }
	}
	if err := serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve %s: %w", l.Addr(), err)
	}
	return nil
}

// Weaknesses of a configuration.
const (
	openToAll     = "auth.anonymous is on: anyone who can reach this address may call every tool"
	tokensInClear = "tokens are sent in the clear unless a proxy in front terminates TLS: set server.tls, or list the proxy in server.trusted_proxies"
)

// exposure returns the weakness of a configuration, or "".
func exposure(c *config.Config) string {
	switch {
	case c.Auth != nil && c.Auth.Anonymous:
		return openToAll
	case c.Auth != nil && !c.Server.Listen.Loopback() && c.Server.TLS == nil && len(c.Server.TrustedProxies) == 0:
		return tokensInClear
	}
	return ""
}

func warnAboutExposure(log *slog.Logger, c *config.Config) {
	switch exposure(c) {
	case openToAll:
		log.Warn(openToAll, "listen", c.Server.Listen.String())
	case tokensInClear:
		log.Warn(tokensInClear, "listen", c.Server.Listen.String())
	}
}
