package gateway

import (
	"log/slog"
	"net/http"
	"net/netip"
	"sync"

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

// maxUnlistedTold is how many networks the log tells of until a reload. Anybody can send the headers, so what they can fill is bounded.
const maxUnlistedTold = 16

// unlistedProxies tells the operator of peers that speak for others and that server.trusted_proxies does not list, so that their
// word about the caller is not taken: perhaps a proxy that was forgotten, perhaps a stranger. Nothing that the headers say is
// written anywhere. It is safe for concurrent use.
type unlistedProxies struct {
	log      *slog.Logger
	requests map[peerKind]prometheus.Counter

	mu   sync.Mutex
	told map[netip.Prefix]bool
}

func newUnlistedProxies(log *slog.Logger, r prometheus.Registerer) *unlistedProxies {
	vec := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "drawbridge_unlisted_proxy_requests_total",
		Help: "Requests with X-Forwarded-For or Forwarded whose peer is not in server.trusted_proxies, so that these are not looked at, by where the peer stands: loopback, private or public."}, []string{"peer"})
	r.MustRegister(vec)
	u := &unlistedProxies{log: log, requests: map[peerKind]prometheus.Counter{}}
	for _, kind := range []peerKind{peerLoopback, peerPrivate, peerPublic} {
		u.requests[kind] = vec.WithLabelValues(string(kind))
	}
	return u
}

// forget tells of all of them again: the list may be another one.
func (u *unlistedProxies) forget() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.told = nil
}

// notice counts a request of such a peer, and tells of the first of its network.
func (u *unlistedProxies) notice(r *http.Request) {
	peer, ok := peerOf(r)
	if !ok {
		return
	}
	u.requests[kindOf(peer)].Inc()
	first, last := u.isNews(peer)
	if !first {
		return
	}
	u.log.LogAttrs(r.Context(), slog.LevelWarn, "a peer that server.trusted_proxies does not list names the callers it speaks for, and is not believed: if it is your proxy, "+
		"list it there, else all of its callers share the limits of one address; if it is not yours, leave it out", slog.String("peer", peer.String()))
	if last {
		u.log.LogAttrs(r.Context(), slog.LevelWarn, "more peers that server.trusted_proxies does not list are counted and not told, until a reload",
			slog.Int("told", maxUnlistedTold), slog.String("metric", "drawbridge_unlisted_proxy_requests_total"))
	}
}

// isNews tells whether the peer is the first of its network, and whether it is the last one that is told of. A network is of 256
// addresses, or with IPv6 of one host: proxies come in several.
func (u *unlistedProxies) isNews(peer netip.Addr) (first, last bool) {
	bits := 64
	if peer.Is4() {
		bits = 24
	}
	network, err := peer.Prefix(bits)
	u.mu.Lock()
	defer u.mu.Unlock()
	if err != nil || len(u.told) >= maxUnlistedTold || u.told[network] {
		return false, false
	}
	if u.told == nil {
		u.told = map[netip.Prefix]bool{}
	}
	u.told[network] = true
	return true, len(u.told) == maxUnlistedTold
}
