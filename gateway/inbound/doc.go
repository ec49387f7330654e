// Package inbound has the state of one request of a client on its way through the gateway: the endpoint that it is for, the address
// that it is counted for, and its id in the log. It travels in the context of the request, for all that serves it.
//
// It hides the key in the context. The rule that must not be broken: nothing depends on there being a request, since subscriptions,
// tasks and operators make calls without one. [From] therefore never returns nil.
package inbound
