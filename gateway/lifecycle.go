package gateway

import (
	"context"
	"log/slog"
	"time"

	"drawbridge/config"
	"drawbridge/gateway/source"
	"drawbridge/gateway/telemetry"
	"drawbridge/gateway/widening"
)

// lifecycle is what the runner needs of the gateway.
type lifecycle struct {
	options *Options
	log     *slog.Logger
	metrics *telemetry.Metrics
	record  *widening.Recorder // access granted by the configuration in use; nil if it is not recorded

	// What the runner waits for.

	updates   <-chan source.Update
	reloads   <-chan reload
	accepts   <-chan source.Acceptance
	requested <-chan struct{}

	// What it does.

	current   func() *generation                                     // the generation that is served; nil if there is none
	deploy    func(*config.Config, *deployment) (*deployment, error) // see [Gateway.deploy]
	serve     func(*deployment, notInUse)                            // see [Gateway.publish]
	setStatus func(*generation, *deployment, notInUse)               // see [Gateway.setStatus]
	survive   func(what string, step func()) (panicked bool)         // see [Gateway.survive]
	keep      func(ctx context.Context, what string, f func())       // see [Gateway.Keep]
	trimDelay func() time.Duration                                   // see [Gateway.trimDelay]
}

func (g *Gateway) lifecycle() lifecycle {
	return lifecycle{
		options: &g.o, log: g.log, metrics: g.metrics, record: g.record, updates: g.updates, reloads: g.reloads, accepts: g.accepts, requested: g.requested,
		current: g.current.Load, deploy: g.deploy, serve: g.publish, setStatus: g.setStatus, survive: g.survive, keep: g.Keep, trimDelay: g.trimDelay,
	}
}

// notInUse tells why the newest configuration is not in use; it is zero if it is.
type notInUse struct {
	refused string   // the reason why it was rejected
	opens   []string // the access that it would open, if it awaits acceptance
}

// newest tells why the newest configuration is not in use.
func (r *runner) newest() notInUse { return notInUse{r.refused, r.held} }
