package console

import (
	"encoding/hex"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"drawbridge/gateway/console/signin"
	"drawbridge/gateway/history"
	"drawbridge/openapi/text"
)

const (
	// liveRows is the most calls that the page of calls shows.
	liveRows = 100
	// failedOutcomes is the outcome of the filter that stands for all that are failures.
	failedOutcomes = "failed"
)

// liveFilter is which calls are shown. Empty fields let all pass.
type liveFilter struct {
	API, Tool string
	Outcome   string // one outcome, or failedOutcomes
	Paused    bool   // no more calls are added to the page
}

func newLiveFilter(q url.Values) liveFilter {
	return liveFilter{API: q.Get("api"), Tool: strings.TrimSpace(q.Get("tool")), Outcome: q.Get("outcome"), Paused: q.Get("paused") != ""}
}

// url returns the URL of the page with the filter.
func (f liveFilter) url() string {
	q := url.Values{}
	for name, value := range map[string]string{"api": f.API, "tool": f.Tool, "outcome": f.Outcome} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if f.Paused {
		q.Set("paused", "1")
	}
	u := url.URL{Path: "/console/live", RawQuery: q.Encode()}
	return u.String()
}

// with returns the filter of the page that adds calls, or does not.
func (f liveFilter) with(paused bool) liveFilter {
	f.Paused = paused
	return f
}

// after returns the URL at which a page asks for newer calls than the one of a number.
func (f liveFilter) after(number uint64) string {
	u := f.url()
	if strings.Contains(u, "?") {
		return u + "&after=" + strconv.FormatUint(number, 10)
	}
	return u + "?after=" + strconv.FormatUint(number, 10)
}

func (f liveFilter) accepts(c *history.Call) bool {
	return (f.API == "" || c.API == f.API) && (f.Tool == "" || strings.Contains(strings.ToLower(c.Tool), strings.ToLower(f.Tool))) &&
		(f.Outcome == "" || f.Outcome == failedOutcomes && !c.OK || c.Outcome == f.Outcome)
}

// liveData is what the page of calls shows.
type liveData struct {
	Filter   liveFilter
	Calls    []liveCall
	Newest   uint64 // the highest number of Calls; 0 if there is none
	APIs     []string
	Outcomes []string // those of the calls that are kept, and that of the filter
	Callers  bool     // who called is shown
	Kept     bool     // arguments and answers are kept
	Bodies   bool     // arguments and answers are shown
}

// liveCall is a call with the names of its steps.
type liveCall struct {
	history.Call
	Trail []trailStep
}

// ended returns when the call ended. Rows are in this order, and show this time.
func (c liveCall) ended() time.Time { return c.Time.Add(c.Duration) }

// bodyLine returns the beginning of arguments or an answer in one line.
func bodyLine(body []byte) string {
	return text.TruncateRunes(strings.Join(strings.Fields(strings.ToValidUTF8(string(body), "\uFFFD")), " "), 80)
}

// trailStep is a step of a call that was reached.
type trailStep struct {
	Name string
	Took string
}

// live serves the last calls as they come. The page asks for them again and again, so that it goes on after a restart, and
// needs no response without an end. The caller, arguments and answers are shown to the role operate only.
func (c *Console) live(w http.ResponseWriter, r *http.Request) {
	d := liveData{Filter: newLiveFilter(r.URL.Query())}
	after, asked := lastSeen(r)
	if asked && c.o.History.Newest() == after {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	d.Callers = c.session(r).Role.Includes(signin.Operate)
	d.Kept = c.o.Config().Admin.Console.ShowBodies
	d.Bodies = d.Callers && d.Kept
	outcomes := map[string]bool{}
	for _, call := range c.o.History.Last(history.MaxCalls, func(call *history.Call) bool {
		outcomes[call.Outcome] = true
		return d.Filter.accepts(call)
	}) {
		if len(d.Calls) == liveRows {
			break
		}
		d.Calls = append(d.Calls, newLiveCall(call, d.Callers, d.Bodies))
	}
	if len(d.Calls) > 0 {
		d.Newest = d.Calls[0].Number
	}
	slices.SortStableFunc(d.Calls, func(a, b liveCall) int { return b.ended().Compare(a.ended()) }) // calls that end at once may be recorded in another order
	if asked && d.Newest == after {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	if o := d.Filter.Outcome; o != "" && o != failedOutcomes {
		outcomes[o] = true
	}
	for o := range outcomes {
		d.Outcomes = append(d.Outcomes, o)
	}
	slices.Sort(d.Outcomes)
	for _, api := range c.o.Gateway.Status().APIs {
		d.APIs = append(d.APIs, api.Name)
	}
	c.render(w, r, d)
}

// lastSeen returns the number of the newest call on the page that asks for newer ones, if one does.
func lastSeen(r *http.Request) (after uint64, asked bool) {
	if r.Header.Get("HX-Request") == "" {
		return 0, false
	}
	after, err := strconv.ParseUint(r.URL.Query().Get("after"), 10, 64)
	return after, err == nil
}

// newLiveCall returns a call as a role sees it.
func newLiveCall(call history.Call, callers, bodies bool) liveCall {
	if !callers {
		call.Caller, call.Client = "", ""
	}
	if !bodies {
		call.Arguments, call.Answer = nil, nil
	}
	return liveCall{call, trailOf(&call)}
}

func trailOf(c *history.Call) (trail []trailStep) {
	for i, took := range c.Steps {
		if took > 0 {
			trail = append(trail, trailStep{history.Step(i).String(), milliseconds(took)})
		}
	}
	return trail
}

// identifiers returns the request id and the trace id as in logs, as far as the call has them.
func (c liveCall) identifiers() string {
	if c.Trace == [16]byte{} {
		return c.Request
	}
	return strings.TrimSpace(c.Request + " trace " + hex.EncodeToString(c.Trace[:]))
}
