package mcp

import (
	"context"
	"errors"
	"net/http"
	"time"
)

// get opens the stream of a legacy session, on which all declared change notifications are sent (2025-11-25 transports,
// Listening for Messages from the Server).
func (x *exchange) get() *Error {
	r, broker := x.req.HTTP, x.h.o.Broker
	version, _ := headerValue(r.Header, headerVersion)
	if version >= revision20260728 || broker == nil {
		return x.methodNotAllowed()
	}
	x.req.Family = Legacy
	x.event.Method = "GET"
	if err := checkLegacyVersion(r.Header); err != nil {
		return err
	}
	if !acceptsAny(r.Header["Accept"], "text/event-stream") {
		return httpError(http.StatusNotAcceptable, "a GET opens an event stream: accept text/event-stream")
	}
	ctx := r.Context()
	x.req.Principal = x.h.o.Principal(ctx)
	ss, err := x.h.openSession(ctx, r.Header, x.req.Principal)
	if err != nil {
		return err
	}
	x.useSession(ss)
	return x.openSessionStream(ss.until())
}

// openSessionStream makes the response the stream of its session. It ends at the given time; the zero time means no
// limit.
func (x *exchange) openSessionStream(until time.Time) (err *Error) {
	ctx, broker, ss := x.req.HTTP.Context(), x.h.o.Broker, &x.session
	s := newSubscriptionStream(broker, broker.subscriberOf(&x.req))
	if err := broker.addStream(s, &x.req); err != nil {
		return err
	}
	defer func() {
		if x.continuation != nil {
			return
		}
		if s.subscriptions != nil { // after a panic
			broker.detachStream(ss.id, s.subscriptions, s)
		}
		broker.removeStream(s)
	}()
	if s.subscriptions, err = broker.joinSession(ss.id, &x.req, s); err != nil {
		return err
	}
	for _, uri := range broker.subscribedURIs(s.subscriptions) { // with this request's token, since those of the subscribe requests may expire earlier
		x.h.subscriptionGranted(ctx, "resource", broker.renew(ctx, s.subscriptions, uri))
	}
	s.setLists(x.h.observableLists())
	s.recordListVersions(ctx)
	until = earliest(until, x.streamDeadline(ctx))
	x.continuation = &continuation{
		first: x.out.sendComment,
		run: func(ctx context.Context) {
			defer broker.removeStream(s)
			defer broker.detachStream(ss.id, s.subscriptions, s)
			s.run(ctx, x, until)
			x.abandonReply()
			x.closeHijacked()
		},
	}
	return nil
}

// subscribeAttempts limits the retries of a subscribe request while the streams of its session end one after the other.
const subscribeAttempts = 3

// serveSubscribe answers resources/subscribe (2025-11-25 server/resources, Subscriptions).
func (h *Handler) serveSubscribe(ctx context.Context, req *Request, reply *Reply) error {
	err := errStreamEnded
	for attempt := 0; attempt < subscribeAttempts && errors.Is(err, errStreamEnded); attempt++ {
		err = h.subscribeOnce(ctx, &reply.x.session, req)
	}
	if err != nil {
		return err
	}
	return reply.Result()
}

// subscribeOnce subscribes a session to a resource. The error is errStreamEnded if the session's stream and with it its
// subscription set ends meanwhile.
func (h *Handler) subscribeOnce(ctx context.Context, ss *session, req *Request) error {
	broker := h.o.Broker
	subs, fault := broker.joinSession(ss.id, req, nil)
	if fault != nil {
		return fault
	}
	defer broker.subscribeDone(ss.id, subs)
	if fault := broker.checkOutdated(req); fault != nil {
		return fault
	}
	// The end of a session is recorded before its state is dropped, so either that finds this subscription or this
	// check finds the record.
	if h.isRevoked(ctx, ss) {
		h.forgetSession(ss.id)
		return sessionNotFound()
	}
	return broker.subscribe(ctx, subs, req.URI)
}

// serveUnsubscribe answers resources/unsubscribe. It succeeds even without a subscription.
func (h *Handler) serveUnsubscribe(_ context.Context, req *Request, reply *Reply) error {
	h.o.Broker.unsubscribe(reply.x.session.id, req.URI)
	return reply.Result()
}
