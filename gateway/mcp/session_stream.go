package mcp

import (
	"context"
	"errors"
	"net/http"
	"time"
)

// get opens the stream of a legacy session (2025-11-25 transports, Listening for
// Messages from the Server). It may tell everything that its lists declare.
func (x *exchange) get() *Error {
	r, hub := x.req.HTTP, x.h.o.Hub
	version, _ := first(r.Header, headerVersion)
	if version >= revision20260728 || hub == nil {
		return x.notAllowed()
	}
	x.req.Era = Legacy
	x.event.Method = "GET"
	if err := checkLegacyVersion(r.Header); err != nil {
		return err
	}
	if !listed(r.Header["Accept"], "text/event-stream") {
		return refusal(http.StatusNotAcceptable, "a GET opens an event stream: accept text/event-stream")
	}
	ctx := r.Context()
	x.req.Principal = x.h.o.Principal(ctx)
	ss, err := x.h.resume(ctx, r.Header, x.req.Principal)
	if err != nil {
		return err
	}
	x.enter(ss)
	return x.changes(ss.expiry)
}

// changes makes the exchange the stream of its session, until then at the latest; the zero time is never.
func (x *exchange) changes(until time.Time) (err *Error) {
	ctx, hub, ss := x.req.HTTP.Context(), x.h.o.Hub, &x.session
	l := newListener(hub, hub.viewer(&x.req))
	if err := hub.enter(l, &x.req); err != nil {
		return err
	}
	defer func() {
		if x.listens != nil {
			return
		}
		if l.watcher != nil { // a panic
			hub.detach(ss.id, l.watcher, l)
		}
		hub.leave(l)
	}()
	if l.watcher, err = hub.join(ss.id, &x.req, l); err != nil {
		return err
	}
	for _, uri := range hub.watched(l.watcher) { // by the token of this request: those that subscribed may end before
		x.h.granted(ctx, "resource", hub.renew(ctx, l.watcher, uri))
	}
	l.hear(x.h.changing())
	l.look(ctx)
	until = earlier(until, x.until(ctx))
	x.listens = &streaming{
		begin: x.out.quiet,
		run: func(ctx context.Context) {
			defer hub.leave(l)
			defer hub.detach(ss.id, l.watcher, l)
			l.run(ctx, x, until)
			x.leave()
			x.hangUp()
		},
	}
	return nil
}

// subscribeAttempts is how often a session joins anew whose streams end one after the other while it subscribes.
const subscribeAttempts = 3

// subscribe answers resources/subscribe (2025-11-25 server/resources, Subscriptions).
func (h *Handler) subscribe(ctx context.Context, req *Request, reply *Reply) error {
	err := errGone
	for attempt := 0; attempt < subscribeAttempts && errors.Is(err, errGone); attempt++ {
		err = h.subscribeOnce(ctx, &reply.x.session, req)
	}
	if err != nil {
		return err
	}
	return reply.Result()
}

// subscribeOnce makes a session be told of a resource. It is errGone if the stream of the session ends meanwhile, and what it had with it.
func (h *Handler) subscribeOnce(ctx context.Context, ss *session, req *Request) error {
	hub := h.o.Hub
	w, fault := hub.join(ss.id, req, nil)
	if fault != nil {
		return fault
	}
	defer hub.asked(ss.id, w)
	if fault := hub.outdated(req); fault != nil {
		return fault
	}
	// Who ends the session says so first, and then ends what it finds of it: this is found, or finds out.
	if h.revoked(ctx, ss) {
		h.forget(ss.id)
		return noSession()
	}
	return hub.watch(ctx, w, req.URI)
}

// unsubscribe answers resources/unsubscribe. There may be no such subscription.
func (h *Handler) unsubscribe(_ context.Context, req *Request, reply *Reply) error {
	h.o.Hub.unsubscribe(reply.x.session.id, req.URI)
	return reply.Result()
}
