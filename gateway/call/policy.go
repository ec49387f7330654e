package call

// Origin is what makes a call.
type Origin uint8

// The origins of calls.
const (
	FromClient       Origin = iota // a client, by tools/call
	FromResource                   // a client that reads a resource
	FromPrompt                     // a prompt
	FromCompletion                 // the completion of an argument while a user types
	FromSubscription               // the poll of a resource that clients have subscribed to
	FromTask                       // a request about the job of an earlier call
	FromStep                       // a step of another call
	FromCommandLine                // the operator of the process
	FromConsole                    // an operator of the console
)

// ByOperator reports whether an operator makes the call, who may call every tool: the user is not asked, and results are whole. For an
// operator of the console conditions hold, as for a caller without claims.
func (o Origin) ByOperator() bool { return o == FromCommandLine || o == FromConsole }

// canAsk reports whether the user can be asked by a call, which goes on from there. A prompt would repeat its calls, and a completion is
// made at each keystroke; what the client brings to them answers no call.
func (o Origin) canAsk() bool { return o != FromPrompt && o != FromCompletion }

// Policy is what differs between calls beside their origin. The zero value is that of tools/call.
type Policy struct {
	Admission Admission
	Arguments Arguments
	Cache     CacheUse
	Response  Response
	Report    Report
}

// Admission is the set of limits that a call is subject to.
type Admission uint8

const (
	// Admitted calls wait for nothing: they are refused above the rate limits and the capacity.
	Admitted Admission = iota
	// Background calls are made for no client, so that no limit refuses them. They count as calls in flight.
	Background
)

// Arguments is the processing that the arguments have had.
type Arguments uint8

const (
	// Given arguments are those of the caller: the user is asked for what they lack, they are validated, and the user confirms them.
	Given Arguments = iota
	// Prepared arguments come from [Runner.Prepare], or were checked in another way.
	Prepared
)

// CacheUse is the use of cached responses by a call.
type CacheUse uint8

const (
	// Cached responses will do, if the plan caches any.
	Cached CacheUse = iota
	// Fresh responses are those of the service.
	Fresh
)

// Response is the handling of the response.
type Response uint8

const (
	// ForModel is for the result of a tool: events are forwarded while they arrive, the response may begin a job or lead elsewhere, and it is
	// projected. Its parts are valid until the outcome is closed.
	ForModel Response = iota
	// Whole is the response with a status below 300, or 304, with all its parts in memory of their own. Any other is a failure.
	Whole
)

// Report says where the outcome is reported, besides the audit log and the history.
type Report uint8

const (
	// Reported outcomes are counted, logged, and told to the client.
	Reported Report = iota
	// Counted outcomes are only counted, because calls are made as fast as a user types.
	Counted
	// Unreported outcomes are counted by the caller.
	Unreported
)
