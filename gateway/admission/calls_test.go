package admission

import (
	"testing"
	"time"

	"drawbridge/gateway/clientip"
	"drawbridge/gateway/state"
	"drawbridge/gateway/telemetry"
)

// TestAdmitCalls: capacity is asked before rates, so that a call that there is no capacity for costs its caller nothing, and a
// call counts as in flight only between Start and Stop.
func TestAdmitCalls(t *testing.T) {
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	calls := &Calls{Overload: &LoadShedder{}, Rates: state.NewLocalRateCounters(0, func() time.Time { return now })}
	defer calls.Overload.PinMemory(false)()
	r := Request{MaxCalls: 1, Address: clientip.Key{1}, Limits: []*RateLimit{newRateLimit(time.Hour, 2, telemetry.RefusedToolRate, "calls of the tool \"a\"", "tool:a")}}
	first, rejected := calls.Admit(t.Context(), r)
	if rejected != nil || first.Start() != nil || calls.Overload.InFlight() != 1 {
		t.Fatalf("the first call: %+v, %d in flight", rejected, calls.Overload.InFlight())
	}
	if _, rejected := calls.Admit(t.Context(), r); rejected == nil || rejected.Reason != telemetry.RefusedOverload || rejected.Outcome != telemetry.OutcomeLimited || rejected.Error == nil {
		t.Errorf("a call beyond capacity: %+v", rejected)
	}
	first.Stop()
	first.Stop() // changes nothing
	second, rejected := calls.Admit(t.Context(), r)
	if rejected != nil || calls.Overload.InFlight() != 0 {
		t.Fatalf("the second call: %+v, %d in flight", rejected, calls.Overload.InFlight())
	}
	second.Stop() // it was never started
	if n := calls.Overload.InFlight(); n != 0 {
		t.Errorf("%d in flight", n)
	}
	if _, rejected := calls.Admit(t.Context(), r); rejected == nil || rejected.Reason != telemetry.RefusedToolRate {
		t.Errorf("a call beyond the rate: %+v", rejected)
	}
	third := calls.Ticket(1)
	if rejected := third.Start(); rejected != nil {
		t.Errorf("a call that no client has asked for: %+v", rejected)
	}
	fourth := calls.Ticket(1)
	if rejected := fourth.Start(); rejected == nil || rejected.Reason != telemetry.RefusedOverload {
		t.Errorf("beyond the calls in flight: %+v", rejected)
	}
}
