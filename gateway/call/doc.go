// Package call makes calls of tools. [Runner.Invoke] takes an [Invocation], which names what is called, for whom, and under which policy, and
// returns an [Outcome]: it admits the call, validates its arguments, asks for the user's consent, answers from the cache or sends the
// request, and reads the response. Both are values. A call knows neither the MCP request nor the HTTP request that it came in by, so that
// a client, a resource, a prompt, a subscription, the console and the command line all make calls in the same way.
//
// The steps of a call are those of the method run in call.go, in that order. Package deliver makes results of outcomes, and package
// polling follows the jobs that calls have started. What becomes of a job after its call is behind [Continuation].
//
// The rule that must not be broken: nothing is sent to a service before the caller is authorized, the call is admitted,
// the condition of its plan holds for the very arguments that are sent, and the audit log has room for its record.
package call
