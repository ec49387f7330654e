package mcp

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"
)

// watchGrace is how long the subscriptions of a legacy session live without a stream
// on which updates could be told.
const sessionGrace = 5 * time.Minute

// watcher is who is told of resources: a modern stream, or a legacy session, which
// may be without a stream for a while. Its fields are guarded by the hub's lock.
type subscriptionSet struct {
	subscriber  Subscriber
	stream      *subscriptionStream             // nil: there is none to tell it on
	byURI       map[string]resourceSubscription // what it is told of; nil: the watcher is gone
	lastRequest int                             // of the last request for one of them
	graceTimer  *time.Timer                     // of a session without a stream; nil: it has one
	undecided   int                             // subscriptions of a session that are not decided on
}

// subscribed is what there is for a subscription.
type resourceSubscription struct {
	release func()
	request int // of the request that it came of: where there are several, the last counts
}

// errGone tells that a watcher has ended meanwhile.
var errStreamEnded = fmt.Errorf("the watcher is gone: %w", RetryLater(http.StatusServiceUnavailable, time.Second, "the stream of the session has ended: subscribe again"))

// watch makes a watcher be told of a resource. If it is already, it goes on by the right of this request, since that of the one before may
// end. It is an error to watch too many, and errGone if the watcher has ended before it is told of it.
func (b *Broker) subscribe(ctx context.Context, subs *subscriptionSet, uri string) error {
	turn, again, err := b.beginSubscribe(subs, uri)
	if err != nil {
		return err
	}
	return b.finishSubscribe(ctx, subs, uri, turn, again)
}

// renew is watch for what a watcher is told of already. What it is told of no more is left alone.
func (b *Broker) renew(ctx context.Context, subs *subscriptionSet, uri string) error {
	turn, again, err := b.beginSubscribe(subs, uri)
	if !again || err != nil {
		return err
	}
	return b.finishSubscribe(ctx, subs, uri, turn, true)
}

// watched returns what a watcher is told of.
func (b *Broker) subscribedURIs(subs *subscriptionSet) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Collect(maps.Keys(subs.byURI))
}

// takeTurn begins a request for a resource, and tells whether the watcher is told of it already.
func (b *Broker) beginSubscribe(subs *subscriptionSet, uri string) (turn int, again bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	subs.lastRequest++
	again, err = b.checkSubscription(subs, uri)
	return subs.lastRequest, again, err
}

// ask ends what takeTurn has begun.
func (b *Broker) finishSubscribe(ctx context.Context, subs *subscriptionSet, uri string, turn int, again bool) error {
	release, err := b.o.SubscribeResource(ctx, Subscription{ // which may take a while
		Subscriber: subs.subscriber, URI: uri, Notify: func() { b.resourceUpdated(subs, uri) }, Renewal: again,
	})
	if err != nil {
		return err
	}
	if release == nil {
		release = func() {}
	}
	unneeded, err := b.storeSubscription(subs, uri, resourceSubscription{release, turn}, again)
	if unneeded != nil {
		unneeded()
	}
	return err
}

// fits tells whether a watcher is told of a resource already, else it is an error if it may not be. The caller holds the lock.
func (b *Broker) checkSubscription(subs *subscriptionSet, uri string) (known bool, err error) {
	if subs.byURI == nil {
		return false, errStreamEnded
	}
	if _, known = subs.byURI[uri]; !known && len(subs.byURI) >= b.o.MaxSubscriptions {
		err = InvalidParams("too many subscriptions: at most %d", b.o.MaxSubscriptions)
	}
	return known, err
}

// keep enters what watch was allowed, if it still fits: others were decided on meanwhile. It returns what is to be released then, of this
// request or of the one before; nil: nothing.
func (b *Broker) storeSubscription(subs *subscriptionSet, uri string, got resourceSubscription, again bool) (unneeded func(), err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	known, err := b.checkSubscription(subs, uri)
	before := subs.byURI[uri]
	switch {
	case again && !known && subs.byURI != nil: // its client has ended it meanwhile
		return got.release, nil
	case err != nil:
		return got.release, err
	case known && got.request < before.request:
		return got.release, nil
	}
	subs.byURI[uri] = got
	return before.release, nil
}

// updated has a watcher told that a resource has changed, if it still is told of it.
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

// asked ends what join has begun for a session without a stream: a subscription was allowed or refused.
func (b *Broker) subscribeDone(id [16]byte, subs *subscriptionSet) {
	b.mu.Lock()
	defer b.mu.Unlock()
	subs.undecided--
	b.endIfUnused(id, subs)
}

// spare ends the watcher of a session that has nothing to be told, and nowhere to be told it: it would keep a place of its caller for
// nothing. The caller holds the lock.
func (b *Broker) endIfUnused(id [16]byte, subs *subscriptionSet) {
	if b.sessions[id] == subs && subs.stream == nil && subs.undecided == 0 && len(subs.byURI) == 0 {
		b.endSessionLocked(id, subs)
	}
}

// drop takes a subscription out; the caller holds the lock, and calls what it returns
// when it does so no more.
func (b *Broker) removeSubscription(subs *subscriptionSet, uri string) (release func()) {
	release = subs.byURI[uri].release
	delete(subs.byURI, uri)
	return release
}

// dismiss ends a watcher with all its subscriptions.
func (b *Broker) endSubscriptions(subs *subscriptionSet) {
	b.mu.Lock()
	ended := b.clearSubscriptions(subs)
	b.mu.Unlock()
	releaseAll(ended)
}

// clear is dismiss for who holds the lock, and calls what it returns when it does so no more.
func (b *Broker) clearSubscriptions(subs *subscriptionSet) (ended []func()) {
	for uri := range subs.byURI {
		ended = append(ended, b.removeSubscription(subs, uri))
	}
	subs.byURI, subs.stream = nil, nil
	return ended
}

// releaseAll calls each of them, also when one before it panics.
func releaseAll(ended []func()) {
	if len(ended) == 0 {
		return
	}
	defer releaseAll(ended[1:])
	ended[0]()
}

// join returns the watcher of a legacy session, a new one if need be, and makes l its
// stream if there is one; else it is for a subscription, and the caller has to call asked. A stream that the session had before ends: its client has
// left it, or will (2025-11-25 transports: a message goes on one stream).
func (b *Broker) joinSession(id [16]byte, req *Request, s *subscriptionStream) (*subscriptionSet, *Error) {
	var v Subscriber
	if s != nil {
		v = s.subscriber
	} else {
		v = b.subscriberOf(req)
	}
	subs, refused, full := b.findOrAddSession(id, v, s)
	b.reportLimit(req, refused, full)
	return subs, refused
}

// watcherOf is join, which tells who wants to know it of what is too much.
func (b *Broker) findOrAddSession(id [16]byte, v Subscriber, s *subscriptionStream) (*subscriptionSet, *Error, limitHit) {
	b.mu.Lock()
	defer b.mu.Unlock()
	subs := b.sessions[id]
	if b.drained {
		return nil, RetryLater(http.StatusServiceUnavailable, time.Second, "the server is about to end"), withinLimit
	}
	if subs == nil {
		subs = &subscriptionSet{subscriber: v, byURI: make(map[string]resourceSubscription)}
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

// detach takes l from its session, whose subscriptions wait for another for a while.
func (b *Broker) detachStream(id [16]byte, subs *subscriptionSet, s *subscriptionStream) {
	b.mu.Lock()
	if subs.stream != s {
		b.mu.Unlock()
		return
	}
	subs.stream = nil
	var ended []func()
	if len(subs.byURI) == 0 || b.drained || b.startGrace(id, subs) != withinLimit {
		ended = b.endSessionLocked(id, subs) // at once: a stream that joins later has a watcher of its own
	}
	b.mu.Unlock()
	releaseAll(ended)
}

// wait gives a session without a stream its grace, from now on, unless too many have theirs. The caller holds the
// lock. A timer that has fired can't be stopped any more: it ends nothing if there is another.
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

// wake ends the grace of a session, if it has one. The caller holds the lock.
func (b *Broker) stopGrace(subs *subscriptionSet) {
	if subs.graceTimer != nil {
		subs.graceTimer.Stop()
		subs.graceTimer = nil
		b.o.StreamLimit.removeSession(subs.subscriber.LimitKey())
	}
}

// forget ends what a legacy session has here: its stream and its subscriptions.
func (b *Broker) endSession(id [16]byte) {
	var ended []func()
	b.mu.Lock()
	if subs := b.sessions[id]; subs != nil {
		ended = b.endSessionLocked(id, subs)
	}
	b.mu.Unlock()
	releaseAll(ended)
}

// end is forget for the watcher that the session has. The caller holds the lock, and calls what it returns when it does so no more.
func (b *Broker) endSessionLocked(id [16]byte, subs *subscriptionSet) (ended []func()) {
	delete(b.sessions, id)
	b.stopGrace(subs)
	if subs.stream != nil {
		subs.stream.close()
	}
	return b.clearSubscriptions(subs)
}
