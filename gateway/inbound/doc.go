// Package inbound holds the state of one HTTP request of a client while the gateway serves it: its endpoint, the address that limits
// count it under, and its id in the log. The state travels in the context of the request.
//
// It hides the context key. The rule that must not be broken: no code requires a request, since subscriptions, tasks and operators
// make calls without one. [From] therefore never returns nil.
package inbound
