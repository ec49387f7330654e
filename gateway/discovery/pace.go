package discovery

import "time"

// pace limits how often a service that changes is looked at again: several times at once, as in a rollout needs, and then rarely, so that a
// registry whose services come and go all the time causes no storm of requests.
type pace struct{ full time.Time }

// Limits of [pace].
const (
	paceBurst = 5
	paceEvery = 10 * time.Second
)

// take returns 0 if the service may be looked at now, which counts, or else how long to wait.
func (p *pace) take(now time.Time) (wait time.Duration) {
	if p.full.Before(now) {
		p.full = now
	}
	if wait := p.full.Sub(now) - (paceBurst-1)*paceEvery; wait > 0 {
		return wait
	}
	p.full = p.full.Add(paceEvery)
	return 0
}
