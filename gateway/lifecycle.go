package gateway

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"

	"drawbridge/gateway/admin"
	"drawbridge/gateway/reload"
)

// Run loads the documents, refreshes them, watches files and processes reloads until ctx ends. It is called once and
// returns when all of its goroutines have ended. The error is nil if ctx ended it.
func (g *Gateway) Run(ctx context.Context) error {
	if err := g.runner.Begin(); err != nil {
		return err
	}
	defer g.runner.End()
	defer g.subscriptions.End()
	g.publisher.recall(ctx)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { g.Keep(ctx, "tools were embedded", func() { g.embeddings.Run(ctx) }); return nil })
	group.Go(func() error { return g.runner.Run(ctx, group) })
	group.Go(func() error { g.Keep(ctx, "services were discovered", func() { g.services.Run(ctx) }); return nil })
	group.Go(func() error { return g.shared.Run(ctx) })
	if g.files != nil {
		group.Go(func() error { g.Keep(ctx, "expired files were removed", func() { g.files.Run(ctx) }); return nil })
	}
	group.Go(func() error {
		g.Keep(ctx, "names of tools were stored", func() { g.publisher.names.Run(ctx) })
		return nil
	})
	if err := group.Wait(); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// Load reads every document once, publishes the result and returns the outcome of each API in the order of the
// configuration. It is for commands that list tools or make one call; [Gateway.Run] loads by itself, and the two
// exclude each other. If ctx ends before all documents are read, Load returns no outcomes, because a missing one says
// nothing about its document.
func (g *Gateway) Load(ctx context.Context) ([]Outcome, error) {
	if err := g.runner.Begin(); err != nil {
		return nil, err
	}
	g.publisher.recall(ctx)
	loaded, err := g.runner.Load(ctx, g.o.Progress)
	if err != nil {
		return nil, err
	}
	outcomes := make([]Outcome, len(loaded))
	for i, l := range loaded {
		r, _ := g.Report(l.Source.Name)
		outcomes[i] = outcomeOf(l, r)
	}
	return outcomes, nil
}

// Attempted returns a channel that is closed when the first attempt to read each document has ended.
func (g *Gateway) Attempted() <-chan struct{} { return g.runner.FirstAttempt() }

// Discovered returns a channel that is closed once each provider of services has answered, or failed, and the documents of
// the services that it has at first were looked for.
func (g *Gateway) Discovered() <-chan struct{} { return g.services.Settled() }

// Reload rereads the configuration and all documents and returns when the result is in use. If the configuration has
// errors, Reload returns all of them and the configuration in use stays. An API whose document can't be read keeps its
// last-known-good one: [Gateway.Status] shows that, and Reload returns no error for it. Reload needs [Gateway.Run]: it
// blocks before Run starts, and fails after Run has returned.
func (g *Gateway) Reload(ctx context.Context) error { return g.runner.Reload(ctx) }

// RequestReload is [Gateway.Reload] without waiting: the outcome is logged. Requests made before a reload begins are
// merged.
func (g *Gateway) RequestReload() { g.runner.RequestReload() }

// Accept puts a quarantined document into use and returns when it is served, or accepts a discovered service that is held. name and digest are those of
// [Gateway.Status]; an empty digest accepts whichever document is quarantined. The error is [admin.ErrNoAPI] or
// [admin.ErrNotHeld] if there is nothing to accept, and [admin.ErrChanged] if another document is quarantined. Accept
// needs [Gateway.Run].
func (g *Gateway) Accept(ctx context.Context, name, digest string) error {
	if err := g.runner.Accept(ctx, name, digest); !errors.Is(err, admin.ErrNoAPI) || len(g.Config().Discovery) == 0 {
		return err
	}
	return g.services.Accept(ctx, name)
}

// Keep runs f until it returns normally or ctx ends. After a panic, which is counted and logged, it restarts f after
// a second.
func (g *Gateway) Keep(ctx context.Context, what string, f func()) { g.recovery.Keep(ctx, what, f) }

// Reading reports whether a document is being read, or its tools are being built. It stays true until the memory that
// this took is released.
func (g *Gateway) Reading() bool { return g.admission.pace.Working(reload.TrimAfter) }
