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
const watchGrace = 5 * time.Minute

// watcher is who is told of resources: a modern stream, or a legacy session, which
// may be without a stream for a while. Its fields are guarded by the hub's lock.
type watcher struct {
	viewer Viewer
	stream *listener             // nil: there is none to tell it on
	uris   map[string]subscribed // what it is told of; nil: the watcher is gone
	turn   int                   // of the last request for one of them
	grace  *time.Timer           // of a session without a stream; nil: it has one
	asking int                   // subscriptions of a session that are not decided on
}

// subscribed is what there is for a subscription.
type subscribed struct {
	release func()
	turn    int // of the request that it came of: where there are several, the last counts
}

// errGone tells that a watcher has ended meanwhile.
var errGone = fmt.Errorf("the watcher is gone: %w", Later(http.StatusServiceUnavailable, time.Second, "the stream of the session has ended: subscribe again"))

// watch makes a watcher be told of a resource. If it is already, it goes on by the right of this request, since that of the one before may
// end. It is an error to watch too many, and errGone if the watcher has ended before it is told of it.
func (h *Hub) watch(ctx context.Context, w *watcher, uri string) error {
	turn, again, err := h.takeTurn(w, uri)
	if err != nil {
		return err
	}
	return h.ask(ctx, w, uri, turn, again)
}

// renew is watch for what a watcher is told of already. What it is told of no more is left alone.
func (h *Hub) renew(ctx context.Context, w *watcher, uri string) error {
	turn, again, err := h.takeTurn(w, uri)
	if !again || err != nil {
		return err
	}
	return h.ask(ctx, w, uri, turn, true)
}

// watched returns what a watcher is told of.
func (h *Hub) watched(w *watcher) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Collect(maps.Keys(w.uris))
}

// takeTurn begins a request for a resource, and tells whether the watcher is told of it already.
func (h *Hub) takeTurn(w *watcher, uri string) (turn int, again bool, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	w.turn++
	again, err = h.fits(w, uri)
	return w.turn, again, err
}

// ask ends what takeTurn has begun.
func (h *Hub) ask(ctx context.Context, w *watcher, uri string, turn int, again bool) error {
	release, err := h.o.Watch(ctx, Subscription{ // which may take a while
		Viewer: w.viewer, URI: uri, Tell: func() { h.updated(w, uri) }, Again: again,
	})
	if err != nil {
		return err
	}
	if release == nil {
		release = func() {}
	}
	unneeded, err := h.keep(w, uri, subscribed{release, turn}, again)
	if unneeded != nil {
		unneeded()
	}
	return err
}

// fits tells whether a watcher is told of a resource already, else it is an error if it may not be. The caller holds the lock.
func (h *Hub) fits(w *watcher, uri string) (known bool, err error) {
	if w.uris == nil {
		return false, errGone
	}
	if _, known = w.uris[uri]; !known && len(w.uris) >= h.o.MaxWatches {
		err = InvalidParams("too many subscriptions: at most %d", h.o.MaxWatches)
	}
	return known, err
}

// keep enters what watch was allowed, if it still fits: others were decided on meanwhile. It returns what is to be released then, of this
// request or of the one before; nil: nothing.
func (h *Hub) keep(w *watcher, uri string, got subscribed, again bool) (unneeded func(), err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	known, err := h.fits(w, uri)
	before := w.uris[uri]
	switch {
	case again && !known && w.uris != nil: // its client has ended it meanwhile
		return got.release, nil
	case err != nil:
		return got.release, err
	case known && got.turn < before.turn:
		return got.release, nil
	}
	w.uris[uri] = got
	return before.release, nil
}

// updated has a watcher told that a resource has changed, if it still is told of it.
func (h *Hub) updated(w *watcher, uri string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, known := w.uris[uri]; !known || w.stream == nil {
		return
	}
	w.stream.mark(func(p *pending) {
		if p.uris == nil {
			p.uris = make(map[string]struct{})
		}
		p.uris[uri] = struct{}{}
	})
}

// unsubscribe ends the subscription of a session to one resource.
func (h *Hub) unsubscribe(id [16]byte, uri string) {
	h.mu.Lock()
	w := h.legacy[id]
	if w == nil {
		h.mu.Unlock()
		return
	}
	release := h.drop(w, uri)
	h.spare(id, w)
	h.mu.Unlock()
	if release != nil {
		release()
	}
}

// asked ends what join has begun for a session without a stream: a subscription was allowed or refused.
func (h *Hub) asked(id [16]byte, w *watcher) {
	h.mu.Lock()
	defer h.mu.Unlock()
	w.asking--
	h.spare(id, w)
}

// spare ends the watcher of a session that has nothing to be told, and nowhere to be told it: it would keep a place of its caller for
// nothing. The caller holds the lock.
func (h *Hub) spare(id [16]byte, w *watcher) {
	if h.legacy[id] == w && w.stream == nil && w.asking == 0 && len(w.uris) == 0 {
		h.end(id, w)
	}
}

// drop takes a subscription out; the caller holds the lock, and calls what it returns
// when it does so no more.
func (h *Hub) drop(w *watcher, uri string) (release func()) {
	release = w.uris[uri].release
	delete(w.uris, uri)
	return release
}

// dismiss ends a watcher with all its subscriptions.
func (h *Hub) dismiss(w *watcher) {
	h.mu.Lock()
	ended := h.clear(w)
	h.mu.Unlock()
	releaseAll(ended)
}

// clear is dismiss for who holds the lock, and calls what it returns when it does so no more.
func (h *Hub) clear(w *watcher) (ended []func()) {
	for uri := range w.uris {
		ended = append(ended, h.drop(w, uri))
	}
	w.uris, w.stream = nil, nil
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
func (h *Hub) join(id [16]byte, req *Request, l *listener) (*watcher, *Error) {
	var v Viewer
	if l != nil {
		v = l.viewer
	} else {
		v = h.viewer(req)
	}
	w, refused, full := h.watcherOf(id, v, l)
	h.tellFull(req, refused, full)
	return w, refused
}

// watcherOf is join, which tells who wants to know it of what is too much.
func (h *Hub) watcherOf(id [16]byte, v Viewer, l *listener) (*watcher, *Error, fullness) {
	h.mu.Lock()
	defer h.mu.Unlock()
	w := h.legacy[id]
	if h.ended {
		return nil, Later(http.StatusServiceUnavailable, time.Second, "the server is about to end"), notFull
	}
	if w == nil {
		w = &watcher{viewer: v, uris: make(map[string]subscribed)}
	}
	if l == nil && w.stream == nil {
		switch full := h.wait(id, w); full {
		case fullInAll:
			return nil, Later(http.StatusServiceUnavailable, 30*time.Second, "too many sessions have subscriptions"), full
		case fullOfCaller:
			return nil, Later(http.StatusTooManyRequests, 30*time.Second,
				"too many sessions of this caller have subscriptions: at most %d", h.o.Listeners.perCaller()), full
		case notFull:
		}
	}
	h.legacy[id] = w
	if l != nil {
		h.wake(w)
		if w.stream != nil {
			w.stream.finish()
		}
		w.stream = l
	}
	if l == nil {
		w.asking++
	}
	return w, nil, notFull
}

// detach takes l from its session, whose subscriptions wait for another for a while.
func (h *Hub) detach(id [16]byte, w *watcher, l *listener) {
	h.mu.Lock()
	if w.stream != l {
		h.mu.Unlock()
		return
	}
	w.stream = nil
	var ended []func()
	if len(w.uris) == 0 || h.ended || h.wait(id, w) != notFull {
		ended = h.end(id, w) // at once: a stream that joins later has a watcher of its own
	}
	h.mu.Unlock()
	releaseAll(ended)
}

// wait gives a session without a stream its grace, from now on, unless too many have theirs. The caller holds the
// lock. A timer that has fired can't be stopped any more: it ends nothing if there is another.
func (h *Hub) wait(id [16]byte, w *watcher) fullness {
	if w.grace == nil {
		if full := h.o.Listeners.enterSession(w.viewer.Caller()); full != notFull {
			return full
		}
	} else {
		w.grace.Stop()
	}
	var grace *time.Timer // the lock guards it, too
	grace = time.AfterFunc(watchGrace, func() {
		defer func() {
			if v := recover(); v != nil {
				h.o.Panicked("the subscriptions of a session were ended", v)
			}
		}()
		var ended []func()
		h.mu.Lock()
		if h.legacy[id] == w && w.stream == nil && w.grace == grace {
			ended = h.end(id, w)
		}
		h.mu.Unlock()
		releaseAll(ended)
	})
	w.grace = grace
	return notFull
}

// wake ends the grace of a session, if it has one. The caller holds the lock.
func (h *Hub) wake(w *watcher) {
	if w.grace != nil {
		w.grace.Stop()
		w.grace = nil
		h.o.Listeners.leaveSession(w.viewer.Caller())
	}
}

// forget ends what a legacy session has here: its stream and its subscriptions.
func (h *Hub) forget(id [16]byte) {
	var ended []func()
	h.mu.Lock()
	if w := h.legacy[id]; w != nil {
		ended = h.end(id, w)
	}
	h.mu.Unlock()
	releaseAll(ended)
}

// end is forget for the watcher that the session has. The caller holds the lock, and calls what it returns when it does so no more.
func (h *Hub) end(id [16]byte, w *watcher) (ended []func()) {
	delete(h.legacy, id)
	h.wake(w)
	if w.stream != nil {
		w.stream.finish()
	}
	return h.clear(w)
}
