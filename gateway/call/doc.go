// Package call runs plans of tools: it authorizes and admits a call, validates its arguments, asks for the user's consent,
// answers from the cache or sends the request, reads the response, and renders it. It also polls the jobs that calls have
// started, since that needs the same rights and the same care with the response.
//
// The steps of a call are those of the method run in call.go, in that order. Resources, prompts, completion, subscriptions
// and tasks make calls by the methods that [Call] lists. What becomes of a job after its call is behind [Continuation].
//
// The rule that must not be broken: nothing is sent to a service before the caller is authorized, the call is admitted,
// the condition of its plan holds for the very arguments that are sent, and the audit log has room for its record.
package call
