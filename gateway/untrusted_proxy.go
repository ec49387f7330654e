package gateway

import (
	"log/slog"
	"maps"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// peerKind is where a peer stands. The set is closed: it labels a metric.
type peerKind string

const (
	peerLoopback peerKind = "loopback"
	peerPrivate  peerKind = "private" // where a proxy of the house usually stands
	peerPublic   peerKind = "public"
)

// carrierNetwork is for addresses that a provider shares among customers (RFC 6598); clouds and overlay networks use it inside.
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
	// unlistedSpan is after how long a network is told of again that still comes.
	unlistedSpan = time.Hour
	// maxUnlistedTold is how many networks of each kind the log tells of at once, and in such a time. Anybody can send the headers, so what they
	// can fill is bounded.
	maxUnlistedTold = 16
)

// unlistedProxies tells the operator of peers that speak for others and that server.trusted_proxies does not list, so that their
// word about the caller is not taken: perhaps a proxy that was forgotten, perhaps a stranger. Nothing that the headers say is
// written anywhere. It is safe for concurrent use.
type unlistedProxies struct {
	log      *slog.Logger
	requests map[peerKind]prometheus.Counter

	mu   sync.Mutex
	told map[peerKind]*toldPeers
}

// toldPeers are the peers of one kind that the log has told of. Each kind has its own, since strangers come from public addresses alone and must not
// use up what is left for a proxy of the house. What was used comes back one by one and not all at once: who carries many requests finds one
// sooner or later, however many strangers look for it too.
type toldPeers struct {
	at     map[netip.Prefix]time.Time
	used   int       // of maxUnlistedTold
	since  time.Time // when used was last reckoned
	closed time.Time // when it was last told that there are more
}

// news notes that the log tells of a network; false: it does not. last tells that it must say that there may be more.
func (t *toldPeers) news(network netip.Prefix, now time.Time) (first, last bool) {
	if at, ok := t.at[network]; ok && now.Sub(at) < unlistedSpan {
		return false, false
	}
	const each = unlistedSpan / maxUnlistedTold
	if back := int(min(now.Sub(t.since)/each, maxUnlistedTold)); back > 0 {
		t.used, t.since = max(0, t.used-back), t.since.Add(time.Duration(back)*each)
	}
	if t.used == 0 {
		t.since = now
	}
	if t.used == maxUnlistedTold {
		return false, false
	}
	t.used++
	maps.DeleteFunc(t.at, func(_ netip.Prefix, at time.Time) bool { return now.Sub(at) >= unlistedSpan })
	t.at[network] = now
	if last = t.used == maxUnlistedTold && (t.closed.IsZero() || now.Sub(t.closed) >= unlistedSpan); last {
		t.closed = now
	}
	return true, last
}

func newUnlistedProxies(log *slog.Logger, r prometheus.Registerer) *unlistedProxies {
	vec := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "drawbridge_unlisted_proxy_requests_total",
		Help: "Requests with X-Forwarded-For or Forwarded whose peer is not in server.trusted_proxies, so that these are not looked at, by where the peer stands: loopback, private or public."}, []string{"peer"})
	r.MustRegister(vec)
	u := &unlistedProxies{log: log, requests: map[peerKind]prometheus.Counter{}, told: map[peerKind]*toldPeers{}}
	for _, kind := range []peerKind{peerLoopback, peerPrivate, peerPublic} {
		u.requests[kind] = vec.WithLabelValues(string(kind))
	}
	return u
}

// forget tells of all of them again: the list may be another one.
func (u *unlistedProxies) forget() {
	u.mu.Lock()
	defer u.mu.Unlock()
	clear(u.told)
}

// notice counts a request of such a peer, and tells of the first of its network in an hour.
func (u *unlistedProxies) notice(r *http.Request) {
	peer, ok := peerOf(r)
	if !ok {
		return
	}
	u.requests[kindOf(peer)].Inc()
	first, last := u.isNews(peer, time.Now())
	if !first {
		return
	}
	u.log.LogAttrs(r.Context(), slog.LevelWarn, "a peer that server.trusted_proxies does not list names the callers it speaks for, and is not believed: if it is your proxy, "+
		"list it there, else all of its callers share the limits of one address; if it is not yours, leave it out", slog.String("peer", peer.String()))
	if last {
		u.log.LogAttrs(r.Context(), slog.LevelWarn, "more peers that server.trusted_proxies does not list are counted and not told for a while",
			slog.Int("told", maxUnlistedTold), slog.String("metric", "drawbridge_unlisted_proxy_requests_total"))
	}
}

// isNews tells whether the peer is to be told of, and whether it is the last one. A network is of 256
// addresses, or with IPv6 of one host: proxies come in several.
func (u *unlistedProxies) isNews(peer netip.Addr, now time.Time) (first, last bool) {
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
	if u.told[kind] == nil {
		u.told[kind] = &toldPeers{at: map[netip.Prefix]time.Time{}}
	}
	return u.told[kind].news(network, now)
}
