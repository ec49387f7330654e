package upstream

import (
	"context"
	"net/http"
)

type observerKey struct{}

// WithObserver returns a context whose requests are shown to observe immediately before they are sent, with everything that
// credentials have added, each attempt on its own; nil hides them from any other. observe must not keep or change the request, and must not read its body.
func WithObserver(ctx context.Context, observe func(*http.Request)) context.Context {
	return context.WithValue(ctx, observerKey{}, observe)
}

// observed shows a request to the observer of its context, if there is one. It does not allocate.
func observed(req *http.Request) {
	if observe, ok := req.Context().Value(observerKey{}).(func(*http.Request)); ok && observe != nil {
		observe(req)
	}
}
