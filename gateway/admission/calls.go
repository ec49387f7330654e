package admission

import (
	"context"
	"net/http"
	"time"

	"drawbridge/auth"
	"drawbridge/gateway/clientip"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/state"
	"drawbridge/gateway/telemetry"
)

// Calls admits calls: it checks all limits that apply to a call. It is safe for concurrent use.
type Calls struct {
	Overload *LoadShedder
	Rates    state.RateCounters // rate counters of tools and APIs
	// Unaudited reports whether no call may be made because the audit log can't be written; nil without an audit log.
	Unaudited func() bool
}

// Request is a call that is to be admitted.
type Request struct {
	MaxCalls      int             // limit of the calls in flight
	MemoryChecked bool            // whether an earlier [Calls.Check] of the same call has found enough memory
	Limits        []*RateLimit    // of the tool and its API
	Caller        *auth.Principal // counted by limits per caller; nil for an anonymous caller, which is counted by Address
	Address       clientip.Key
}

// Rejection is the reason why a call is not admitted.
type Rejection struct {
	Reason  telemetry.RefusalReason
	Outcome telemetry.Outcome
	Error   *mcp.Error // says when to retry
}

// Ticket is an admitted call. It counts as a call in flight from [Ticket.Start] to [Ticket.Stop] only: a call that waits for its user
// uses no capacity. It belongs to one goroutine at a time.
type Ticket struct {
	overload *LoadShedder
	maxCalls int
	running  bool
}

// Admit checks the capacity for a call, then counts it against the rate limits of its tool and its API.
func (a *Calls) Admit(ctx context.Context, r Request) (Ticket, *Rejection) {
	if rejected := a.Check(r.MaxCalls, r.MemoryChecked); rejected != nil {
		return Ticket{}, rejected
	}
	if rejected := a.Charge(ctx, r); rejected != nil {
		return Ticket{}, rejected
	}
	return a.Ticket(r.MaxCalls), nil
}

// Ticket returns the ticket of a call that no client has requested, such as a poll. Neither capacity nor rate limits refuse it.
func (a *Calls) Ticket(maxCalls int) Ticket { return Ticket{overload: a.Overload, maxCalls: maxCalls} }

// Check returns why no further call can be admitted, or nil. It counts nothing. memoryChecked is set if an earlier Check of the same
// call has measured the memory.
func (a *Calls) Check(maxCalls int, memoryChecked bool) *Rejection {
	if a.Unaudited != nil && a.Unaudited() {
		return unaudited()
	}
	if because := a.Overload.Check(maxCalls, memoryChecked); because != "" {
		return overloaded(because)
	}
	return nil
}

// Charge counts a call against the rate limits of its tool and its API.
func (a *Calls) Charge(ctx context.Context, r Request) *Rejection {
	switch len(r.Limits) {
	case 0:
		return nil
	case 1: // allocates nothing
		d, _ := a.Rates.Take(ctx, r.keyOf(r.Limits[0]), r.Limits[0].Limit(), 1)
		return exceeded(r.Limits[0], d)
	}
	takes := make([]state.Take, len(r.Limits))
	for i, limit := range r.Limits {
		takes[i] = state.Take{Key: r.keyOf(limit), Limit: limit.Limit(), N: 1}
	}
	decisions, _ := a.Rates.TakeAll(ctx, takes)
	for i, d := range decisions {
		if rejected := exceeded(r.Limits[i], d); rejected != nil {
			return rejected
		}
	}
	return nil
}

// keyOf returns the counter key of a rate limit for the call.
func (r *Request) keyOf(limit *RateLimit) string {
	switch {
	case !limit.perCaller:
		return limit.key
	case r.Caller != nil:
		return limit.key + PrincipalKey(r.Caller.ID())
	}
	return limit.key + r.Address.String()
}

// exceeded returns the rejection of a call that a rate limit does not allow; nil if it does.
func exceeded(limit *RateLimit, d state.Decision) *Rejection {
	if d.Allowed {
		return nil
	}
	e, because := limit.Refuse(d)
	if d.Uncounted {
		return &Rejection{because, telemetry.OutcomeUncounted, e}
	}
	return &Rejection{because, telemetry.OutcomeLimited, e}
}

// unaudited returns the rejection of a call while the audit log can't be written. It is an HTTP status, so that a load balancer
// sends the call to another replica.
func unaudited() *Rejection {
	return &Rejection{telemetry.RefusedUnaudited, telemetry.OutcomeUnaudited, mcp.RetryLater(http.StatusServiceUnavailable, time.Second,
		"the gateway can't write its audit log, and makes no calls without it; nothing was sent: come again in 1 second; the operator must look at the audit log")}
}

// overloaded returns the rejection of a call for lack of capacity.
func overloaded(because telemetry.RefusalReason) *Rejection {
	what := "too many calls run"
	if because == telemetry.RefusedMemory {
		what = "there is no room for more calls"
	}
	return &Rejection{because, telemetry.OutcomeLimited, mcp.RetryLater(http.StatusServiceUnavailable, time.Second, "%s: come again in 1 second; lists are served", what)}
}

// Start counts the call as in flight, or returns why it can't.
func (t *Ticket) Start() *Rejection {
	if because := t.overload.Admit(t.maxCalls); because != "" {
		return overloaded(because)
	}
	t.running = true
	return nil
}

// Stop no longer counts the call as in flight, if it is.
func (t *Ticket) Stop() {
	if t.running {
		t.running = false
		t.overload.Done()
	}
}
