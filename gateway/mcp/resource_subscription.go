package mcp

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"
)

// sessionGrace is how long the subscriptions of a legacy session live without a stream.
const sessionGrace = 5 * time.Minute

// subscriptionSet holds the resource subscriptions of a stateless stream, or of a legacy session, which may be without
// a stream for a while. The broker's lock guards its fields.
type subscriptionSet struct {
	subscriber  Subscriber
	stream      *subscriptionStream             // nil if the session has no stream
	byURI       map[string]resourceSubscription // nil if the set has ended
	lastRequest int                             // number of the last subscribe request
	graceTimer  *time.Timer                     // of a session without a stream, else nil
	undecided   int                             // subscribe requests of a session that are not decided yet
}

// resourceSubscription is one subscription of a set.
type resourceSubscription struct {
	release func()
	request int // number of the request that made it; of concurrent requests the last counts
}

// errStreamEnded reports that a subscription set has ended meanwhile.
var errStreamEnded = fmt.Errorf("the subscriptions of the session have ended: %w", RetryLater(http.StatusServiceUnavailable, time.Second, "the stream of the session has ended: subscribe again"))

// subscribe adds a resource to a set. If the set has it already, the subscription is renewed with the authorization of
// this request, since that of the former may expire. The error is errStreamEnded if the set ends meanwhile, and an
// *Error if it has too many subscriptions.
func (b *Broker) subscribe(ctx context.Context, subs *subscriptionSet, uri string) error {
	request, renewal, err := b.beginSubscribe(subs, uri)
	if err != nil {
		return err
	}
	return b.finishSubscribe(ctx, subs, uri, request, renewal)
}

// renew renews a subscription of a set, and does nothing if the set does not have it any more.
func (b *Broker) renew(ctx context.Context, subs *subscriptionSet, uri string) error {
	request, renewal, err := b.beginSubscribe(subs, uri)
	if !renewal || err != nil {
		return err
	}
	return b.finishSubscribe(ctx, subs, uri, request, true)
}

// subscribedURIs returns the resources of a set.
func (b *Broker) subscribedURIs(subs *subscriptionSet) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Collect(maps.Keys(subs.byURI))
}

// beginSubscribe begins a subscribe request and reports whether the set has the resource already.
func (b *Broker) beginSubscribe(subs *subscriptionSet, uri string) (request int, renewal bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	subs.lastRequest++
	renewal, err = b.checkSubscription(subs, uri)
	return subs.lastRequest, renewal, err
}

// finishSubscribe completes a request that beginSubscribe has begun.
func (b *Broker) finishSubscribe(ctx context.Context, subs *subscriptionSet, uri string, request int, renewal bool) error {
	release, err := b.o.SubscribeResource(ctx, Subscription{ // may take a while
		Subscriber: subs.subscriber, URI: uri, Notify: func() { b.resourceUpdated(subs, uri) }, Renewal: renewal,
	})
	if err != nil {
		return err
	}
	if release == nil {
		release = func() {}
	}
	unneeded, err := b.storeSubscription(subs, uri, resourceSubscription{release, request}, renewal)
	if unneeded != nil {
		unneeded()
	}
	return err
}

// checkSubscription reports whether a set has a resource already; if not, the error says whether it can't be added. The
// caller holds the lock.
func (b *Broker) checkSubscription(subs *subscriptionSet, uri string) (known bool, err error) {
	if subs.byURI == nil {
		return false, errStreamEnded
	}
	if _, known = subs.byURI[uri]; !known && len(subs.byURI) >= b.o.MaxSubscriptions {
		err = InvalidParams("too many subscriptions: at most %d", b.o.MaxSubscriptions)
	}
	return known, err
}

// storeSubscription stores a granted subscription if the set still allows it, since other requests were decided
// meanwhile. It returns the release function of the subscription that is not needed, this or the former, nil if there
// is none.
func (b *Broker) storeSubscription(subs *subscriptionSet, uri string, got resourceSubscription, renewal bool) (unneeded func(), err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	known, err := b.checkSubscription(subs, uri)
	before := subs.byURI[uri]
	switch {
	case renewal && !known && subs.byURI != nil: // the client has unsubscribed meanwhile
		return got.release, nil
	case err != nil:
		return got.release, err
	case known && got.request < before.request:
		return got.release, nil
	}
	subs.byURI[uri] = got
	return before.release, nil
}

// resourceUpdated notifies the stream of a set of an update, if the set still has the resource.
func (b *Broker) resourceUpdated(subs *subscriptionSet, uri string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, known := subs.byURI[uri]; !known || subs.stream == nil {
		return
	}
	subs.stream.enqueue(func(p *pending) {
		if p.uris == nil {
			p.uris = make(map[string]struct{})
		}
		p.uris[uri] = struct{}{}
	})
}

// unsubscribe ends the subscription of a session to one resource.
func (b *Broker) unsubscribe(id [16]byte, uri string) {
	b.mu.Lock()
	subs := b.sessions[id]
	if subs == nil {
		b.mu.Unlock()
		return
	}
	release := b.removeSubscription(subs, uri)
	b.endIfUnused(id, subs)
	b.mu.Unlock()
	if release != nil {
		release()
	}
}

// subscribeDone ends a subscribe request that joinSession has begun.
func (b *Broker) subscribeDone(id [16]byte, subs *subscriptionSet) {
	b.mu.Lock()
	defer b.mu.Unlock()
	subs.undecided--
	b.endIfUnused(id, subs)
}

// endIfUnused ends the set of a session that has neither subscriptions nor a stream, so that it does not count against
// its caller's limit. The caller holds the lock.
func (b *Broker) endIfUnused(id [16]byte, subs *subscriptionSet) {
	if b.sessions[id] == subs && subs.stream == nil && subs.undecided == 0 && len(subs.byURI) == 0 {
		b.endSessionLocked(id, subs)
	}
}

// removeSubscription removes a subscription. The caller holds the lock, and calls release after unlocking.
func (b *Broker) removeSubscription(subs *subscriptionSet, uri string) (release func()) {
	release = subs.byURI[uri].release
	delete(subs.byURI, uri)
	return release
}

// endSubscriptions ends a set with all its subscriptions.
func (b *Broker) endSubscriptions(subs *subscriptionSet) {
	b.mu.Lock()
	ended := b.clearSubscriptions(subs)
	b.mu.Unlock()
	releaseAll(ended)
}

// clearSubscriptions is endSubscriptions for callers that hold the lock; they call the returned functions after
// unlocking.
func (b *Broker) clearSubscriptions(subs *subscriptionSet) (ended []func()) {
	for uri := range subs.byURI {
		ended = append(ended, b.removeSubscription(subs, uri))
	}
	subs.byURI, subs.stream = nil, nil
	return ended
}

// releaseAll calls all functions, even if one of them panics.
func releaseAll(ended []func()) {
	if len(ended) == 0 {
		return
	}
	defer releaseAll(ended[1:])
	ended[0]()
}

// joinSession returns the subscription set of a legacy session, which is created if needed, and makes s its stream. If
// s is nil, it is for a subscribe request, and the caller must call subscribeDone. A former stream of the session ends,
// since the client has left it or will (2025-11-25 transports: a message is sent on one stream).
func (b *Broker) joinSession(id [16]byte, req *Request, s *subscriptionStream) (*subscriptionSet, *Error) {
	var sub Subscriber
	if s != nil {
		sub = s.subscriber
	} else {
		sub = b.subscriberOf(req)
	}
	subs, refused, full := b.findOrAddSession(id, sub, s)
	b.reportLimit(req, refused, full)
	return subs, refused
}

// findOrAddSession is joinSession without the report of a reached limit.
func (b *Broker) findOrAddSession(id [16]byte, sub Subscriber, s *subscriptionStream) (*subscriptionSet, *Error, limitHit) {
	b.mu.Lock()
	defer b.mu.Unlock()
	subs := b.sessions[id]
	if b.drained {
		return nil, RetryLater(http.StatusServiceUnavailable, time.Second, "the server is about to end"), withinLimit
	}
	if subs == nil {
		subs = &subscriptionSet{subscriber: sub, byURI: make(map[string]resourceSubscription)}
	}
	if s == nil && subs.stream == nil {
		switch full := b.startGrace(id, subs); full {
		case totalLimitHit:
			return nil, RetryLater(http.StatusServiceUnavailable, 30*time.Second, "too many sessions have subscriptions"), full
		case callerLimitHit:
			return nil, RetryLater(http.StatusTooManyRequests, 30*time.Second,
				"too many sessions of this caller have subscriptions: at most %d", b.o.StreamLimit.callerLimit()), full
		case withinLimit:
		}
	}
	b.sessions[id] = subs
	if s != nil {
		b.stopGrace(subs)
		if subs.stream != nil {
			subs.stream.close()
		}
		subs.stream = s
	}
	if s == nil {
		subs.undecided++
	}
	return subs, nil, withinLimit
}

// detachStream removes a stream from its session, whose subscriptions wait for another stream for sessionGrace.
func (b *Broker) detachStream(id [16]byte, subs *subscriptionSet, s *subscriptionStream) {
	b.mu.Lock()
	if subs.stream != s {
		b.mu.Unlock()
		return
	}
	subs.stream = nil
	var ended []func()
	if len(subs.byURI) == 0 || b.drained || b.startGrace(id, subs) != withinLimit {
		ended = b.endSessionLocked(id, subs) // in the same lock: a stream that joins later gets a new set
	}
	b.mu.Unlock()
	releaseAll(ended)
}

// startGrace starts or restarts the grace period of a session without a stream, unless a limit is reached. The caller
// holds the lock. A timer that has fired can't be stopped; it does nothing if it has been replaced.
func (b *Broker) startGrace(id [16]byte, subs *subscriptionSet) limitHit {
	if subs.graceTimer == nil {
		if full := b.o.StreamLimit.addSession(subs.subscriber.LimitKey()); full != withinLimit {
			return full
		}
	} else {
		subs.graceTimer.Stop()
	}
	var grace *time.Timer // the lock guards it, too
	grace = time.AfterFunc(sessionGrace, func() {
		defer func() {
			if v := recover(); v != nil {
				b.o.OnPanic("the subscriptions of a session were ended", v)
			}
		}()
		var ended []func()
		b.mu.Lock()
		if b.sessions[id] == subs && subs.stream == nil && subs.graceTimer == grace {
			ended = b.endSessionLocked(id, subs)
		}
		b.mu.Unlock()
		releaseAll(ended)
	})
	subs.graceTimer = grace
	return withinLimit
}

// stopGrace ends the grace period of a session, if it has one. The caller holds the lock.
func (b *Broker) stopGrace(subs *subscriptionSet) {
	if subs.graceTimer != nil {
		subs.graceTimer.Stop()
		subs.graceTimer = nil
		b.o.StreamLimit.removeSession(subs.subscriber.LimitKey())
	}
}

// endSession ends the stream and the subscriptions of a legacy session on this replica.
func (b *Broker) endSession(id [16]byte) {
	var ended []func()
	b.mu.Lock()
	if subs := b.sessions[id]; subs != nil {
		ended = b.endSessionLocked(id, subs)
	}
	b.mu.Unlock()
	releaseAll(ended)
}

// endSessionLocked is endSession for callers that hold the lock; they call the returned functions after unlocking.
func (b *Broker) endSessionLocked(id [16]byte, subs *subscriptionSet) (ended []func()) {
	delete(b.sessions, id)
	b.stopGrace(subs)
	if subs.stream != nil {
		subs.stream.close()
	}
	return b.clearSubscriptions(subs)
}
