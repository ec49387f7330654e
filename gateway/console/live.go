package console

import (
	"net/http"
	"net/url"
	"strings"

	"drawbridge/gateway/console/signin"
	"drawbridge/gateway/history"
)

// liveRows is the most calls that the page of calls shows.
const liveRows = 100

// liveFilter is which calls are shown. Empty fields let all pass.
type liveFilter struct {
	API, Tool string
	Failed    bool // failed calls alone
}

func newLiveFilter(q url.Values) liveFilter {
	return liveFilter{API: q.Get("api"), Tool: strings.TrimSpace(q.Get("tool")), Failed: q.Get("failed") != ""}
}

// Query returns the filter as the query of a URL.
func (f liveFilter) Query() string {
	q := url.Values{}
	for name, value := range map[string]string{"api": f.API, "tool": f.Tool} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if f.Failed {
		q.Set("failed", "1")
	}
	return q.Encode()
}

func (f liveFilter) accepts(c *history.Call) bool {
	return (f.API == "" || c.API == f.API) && (f.Tool == "" || strings.Contains(c.Tool, f.Tool)) && !(f.Failed && c.OK)
}

// liveData is what the page of calls shows.
type liveData struct {
	Filter  liveFilter
	Calls   []liveCall
	APIs    []string
	Callers bool // who called is shown
	Bodies  bool // arguments and answers are shown
}

// liveCall is a call with the names of its steps.
type liveCall struct {
	history.Call
	Trail []trailStep
}

// trailStep is a step of a call that was reached.
type trailStep struct {
	Name string
	Took string
}

// live serves the last calls as they come. Who called is for the role operate, and so are arguments and answers.
func (c *Console) live(w http.ResponseWriter, r *http.Request) {
	d := liveData{Filter: newLiveFilter(r.URL.Query())}
	d.Callers = c.session(r).Role.Includes(signin.Operate)
	d.Bodies = d.Callers && c.o.Config().Admin.Console.ShowBodies
	for _, call := range c.o.History.Last(liveRows, d.Filter.accepts) {
		if !d.Callers {
			call.Caller, call.Client = "", ""
		}
		if !d.Bodies {
			call.Arguments, call.Answer = nil, nil
		}
		d.Calls = append(d.Calls, liveCall{call, trailOf(&call)})
	}
	for _, api := range c.o.Gateway.Status().APIs {
		d.APIs = append(d.APIs, api.Name)
	}
	c.render(w, r, "live", d)
}

func trailOf(c *history.Call) (trail []trailStep) {
	for i, took := range c.Steps {
		if took > 0 {
			trail = append(trail, trailStep{history.Step(i).String(), milliseconds(took)})
		}
	}
	return trail
}

// ArgumentsText returns the arguments as text.
func (c liveCall) ArgumentsText() string { return string(c.Arguments) }

// AnswerText returns the beginning of the answer as text.
func (c liveCall) AnswerText() string { return strings.ToValidUTF8(string(c.Answer), "\uFFFD") }
