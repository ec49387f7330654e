package reload

import (
	"context"
	"time"

	"drawbridge/config"
	"drawbridge/gateway/discovery"
	"drawbridge/gateway/generation"
	"drawbridge/gateway/recovery"
)

// Services are what the providers of a configuration find.
type Services interface {
	// Use takes over the providers of a configuration.
	Use(c *config.Config)
	// RetryLookups looks again for documents that were not found.
	RetryLookups()
	// Changed receives after a new snapshot came.
	Changed() <-chan struct{}
	// Settle runs the providers of a configuration until it is known what they find.
	Settle(ctx context.Context, c *config.Config) error
	// Release removes what Settle keeps for the documents to be read.
	Release()
	// Snapshot returns what is known now.
	Snapshot() *discovery.Snapshot
}

// withServices returns a configuration with the services that are known now.
func (r *Runner) withServices(c *config.Config) *config.Config {
	if len(c.Discovery) == 0 {
		return c.WithServices(nil, nil)
	}
	s := r.o.Services.Snapshot()
	return c.WithServices(s.APIs, s.Keys)
}

// discoveryTime is the time that [Runner.Load] gives providers and searches. A service that takes longer is left out.
const discoveryTime = 15 * time.Second

// discover adds the services that the providers find to the first deployment.
func (r *Runner) discover(ctx context.Context) error {
	if len(r.first.Config.Discovery) == 0 {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, discoveryTime)
	defer cancel()
	if err := r.o.Services.Settle(limited, r.first.Config); err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	deployed, err := r.o.Deploy(r.withServices(r.first.Config), r.first)
	if err != nil {
		return err
	}
	r.first = deployed
	return nil
}

// takeServices serves the services that are known now. It reads no document but those of new services, which are served as
// soon as it is read. A reload that is under way brings the services of its own configuration.
func (w *writer) takeServices() {
	if w.next != nil {
		w.servicesChanged = true
		return
	}
	w.servicesChanged = false
	deployed, err := w.o.Deploy(w.withServices(w.inUse.Config), w.inUse.Deployment)
	if err != nil {
		w.o.Log.Error("services can't be served; those before stay in use", "error", err)
		return
	}
	old := w.inUse
	next := old.succeed(deployed)
	next.waiters, old.waiters = old.waiters, nil
	next.APIs.Follow(old.APIs)
	next.compareWith(old)
	w.inUse = next
	w.start(next)
	next.APIs.NameStored()
	panicked := w.o.Recovery.Step("what is served was built", w.publish)
	w.stop(old, next)
	if panicked {
		next.fail(recovery.ErrPanicked)
		return
	}
	w.o.Log.Info("services in use", "apis", len(next.APIs.Sources))
}

// succeed returns a deployment that takes over the guard of the one in use, if it is the same.
func (d *deployment) succeed(deployed *generation.Deployment) *deployment {
	next := &deployment{Deployment: deployed}
	if next.Guard == d.Guard {
		next.stopGuard = d.stopGuard
	}
	return next
}
