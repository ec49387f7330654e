package source

import (
	"log/slog"
	"time"

	"drawbridge/config"
	"drawbridge/gateway/upstream"
)

// setResilience sets the bulkhead, circuit breaker, ejection and retry options of the API's client.
func setResilience(o *upstream.Options, c *config.API, log *slog.Logger) {
	o.Bulkhead = upstream.Bulkhead{InFlight: c.MaxInFlight, Queued: c.MaxQueued, Wait: time.Duration(c.QueueTimeout)}
	if !c.Breaker.Off() {
		o.Breaker = upstream.Breaker{
			Failures: c.Breaker.Failures, Calls: c.Breaker.Calls, Window: time.Duration(c.Breaker.Window),
			Pause: time.Duration(c.Breaker.Pause), Probes: c.Breaker.Probes, AllErrors: c.Breaker.Errors == config.ErrorsAll,
		}
	}
	if !c.Retries.Off() {
		o.Retries = upstream.Retries{Max: c.Retries.Max, Budget: c.Retries.Budget}
	}
	name, pause := o.Name, o.Breaker.Pause
	o.OnEject = func(instance string, pause time.Duration) {
		log.Warn("instance ejected: calls to it fail, so they go to the other instances of the service for a while", "api", name, "instance", instance, "pause", pause.String())
	}
	o.OnStateChange = func(host string, from, to upstream.State) {
		switch to {
		case upstream.Open:
			log.Warn("circuit breaker opened: a service is failing, so calls are not sent to it for a while", "api", name, "host", host, "from", from.String(), "pause", pause.String())
		case upstream.HalfOpen:
			log.Info("circuit breaker half-open: probing a service that failed", "api", name, "host", host)
		case upstream.Closed:
			log.Info("circuit breaker closed: a service has recovered", "api", name, "host", host)
		}
	}
}
