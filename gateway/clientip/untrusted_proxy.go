package clientip

import (
	"log/slog"
	"maps"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// peerKind says which networks a peer belongs to. The set is closed, since it labels a metric.
type peerKind string

const (
	peerLoopback peerKind = "loopback"
	peerPrivate  peerKind = "private" // where a proxy of the operator usually stands
	peerPublic   peerKind = "public"
)

// carrierNetwork holds the addresses that a provider shares among customers (RFC 6598); clouds and overlay networks use them inside.
var carrierNetwork = netip.MustParsePrefix("100.64.0.0/10")

func kindOf(peer netip.Addr) peerKind {
	switch {
	case peer.IsLoopback():
		return peerLoopback
	case peer.IsPrivate() || peer.IsLinkLocalUnicast() || carrierNetwork.Contains(peer):
		return peerPrivate
	}
	return peerPublic
}

const (
	// warnAgain is how long a network must be silent in the log before a further request of it is warned of again.
	warnAgain = time.Hour
	// maxWarned is how many networks of each kind the log warns of at once, and in such a time. Any client can send the headers, so
	// that the lines that they cause are bounded.
	maxWarned = 16
)

// UntrustedProxies warns the operator of peers that forward requests and that server.trusted_proxies does not list, so that
// their headers are ignored: perhaps a forgotten proxy, perhaps a stranger. No part of the headers is logged. It is safe for
// concurrent use.
type UntrustedProxies struct {
	log      *slog.Logger
	requests map[peerKind]prometheus.Counter

	mu     sync.Mutex
	warned map[peerKind]*warnings
}

// warnings are the peers of one kind that the log has warned of. Each kind has its own budget: strangers come from public addresses alone
// and must not use up what a proxy of the operator needs. The budget comes back line by line and not all at once, so that a proxy
// with many requests gets a line sooner or later, however many strangers compete for it.
type warnings struct {
	at     map[netip.Prefix]time.Time
	used   int       // of maxWarned
	since  time.Time // when used was last reckoned
	closed time.Time // when the log last said that there are more
}

// take spends a line of the budget on a network; first is false if the network was warned of lately or the budget is used up. With last,
// the log must say that there may be more.
func (t *warnings) take(network netip.Prefix, now time.Time) (first, last bool) {
	if at, ok := t.at[network]; ok && now.Sub(at) < warnAgain {
		return false, false
	}
	const each = warnAgain / maxWarned
	if back := int(min(now.Sub(t.since)/each, maxWarned)); back > 0 {
		t.used, t.since = max(0, t.used-back), t.since.Add(time.Duration(back)*each)
	}
	if t.used == 0 {
		t.since = now
	}
	if t.used == maxWarned {
		return false, false
	}
	t.used++
	maps.DeleteFunc(t.at, func(_ netip.Prefix, at time.Time) bool { return now.Sub(at) >= warnAgain })
	t.at[network] = now
	if last = t.used == maxWarned && (t.closed.IsZero() || now.Sub(t.closed) >= warnAgain); last {
		t.closed = now
	}
	return true, last
}

// NewUntrustedProxies returns a detector that registers its metric with r.
func NewUntrustedProxies(log *slog.Logger, r prometheus.Registerer) *UntrustedProxies {
	vec := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "drawbridge_unlisted_proxy_requests_total",
		Help: "Requests with X-Forwarded-For or Forwarded from a peer that is not in server.trusted_proxies, so that the headers are ignored, by network of the peer: loopback, private or public."}, []string{"peer"})
	r.MustRegister(vec)
	u := &UntrustedProxies{log: log, requests: map[peerKind]prometheus.Counter{}, warned: map[peerKind]*warnings{}}
	for _, kind := range []peerKind{peerLoopback, peerPrivate, peerPublic} {
		u.requests[kind] = vec.WithLabelValues(string(kind))
	}
	return u
}

// Reset makes it warn of every peer again, since the configured list may have changed.
func (u *UntrustedProxies) Reset() {
	u.mu.Lock()
	defer u.mu.Unlock()
	clear(u.warned)
}

// Observe counts a request of such a peer ([Resolver.Classify]), and warns of the first one of its network in an hour.
func (u *UntrustedProxies) Observe(r *http.Request) {
	peer, ok := peerOf(r)
	if !ok {
		return
	}
	u.requests[kindOf(peer)].Inc()
	first, last := u.warns(peer, time.Now())
	if !first {
		return
	}
	u.log.LogAttrs(r.Context(), slog.LevelWarn, "a peer that is not in server.trusted_proxies sends forwarding headers, which are ignored: if it is your proxy, "+
		"list it there, else all of its callers share the limits of one address; if it is not yours, leave it out", slog.String("peer", peer.String()))
	if last {
		u.log.LogAttrs(r.Context(), slog.LevelWarn, "further peers that are not in server.trusted_proxies are counted, but not logged for a while",
			slog.Int("told", maxWarned), slog.String("metric", "drawbridge_unlisted_proxy_requests_total"))
	}
}

// warns reports whether to warn of the peer, and whether it is the last one for now. A network has 256
// addresses, or with IPv6 those of one host: proxies come in groups.
func (u *UntrustedProxies) warns(peer netip.Addr, now time.Time) (first, last bool) {
	bits := 64
	if peer.Is4() {
		bits = 24
	}
	network, err := peer.Prefix(bits)
	if err != nil {
		return false, false
	}
	kind := kindOf(peer)
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.warned[kind] == nil {
		u.warned[kind] = &warnings{at: map[netip.Prefix]time.Time{}}
	}
	return u.warned[kind].take(network, now)
}
