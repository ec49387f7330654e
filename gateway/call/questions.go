package call

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"drawbridge/gateway/elicit"
	"drawbridge/gateway/history"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/telemetry"
)

// questions are those of a call to its user. A step that needs an answer returns an [*mcp.InputRequired], which ends the call for now: it
// occupies nothing while the user takes time. The state in it is the call, which goes on from there with another invocation, at any replica.
// Steps that have ended are not repeated, and the call is one in rates, records and history. A nil value is that of a call that has not asked.
type questions struct {
	elicit.Dialogue
	from    suspended       // how the call was when it asked last; zero if it has not
	resumed bool            // the call goes on
	settled bool            // the state was accepted, so that no second call goes on from it without being counted
	kept    json.RawMessage // what the tool keeps
	waits   bool            // for the user
}

// suspended is a call whose user is asked.
type suspended struct {
	ID       string          `json:"i"` // of the HTTP request in which the call began
	Begun    time.Time       `json:"b"`
	Worked   time.Duration   `json:"w"` // without the time of the user
	Admitted time.Duration   `json:"m"`
	Asked    int             `json:"n"` // how often
	Progress elicit.Progress `json:"p,omitzero"`
	Tool     json.RawMessage `json:"t,omitempty"` // what the tool keeps
	Server   string          `json:"v,omitempty"` // see [plan.Plan].Server
}

// goesOn reports whether the call has asked its user, and goes on.
func (q *questions) goesOn() bool { return q != nil && q.resumed }

// wait reports whether the call has asked its user, and has ended for now.
func (q *questions) wait() bool { return q != nil && q.waits }

// times returns how often the user was asked.
func (q *questions) times() int {
	if q == nil {
		return 0
	}
	return q.from.Asked
}

// call returns the id of the request in which the call began; "" if it is the present one.
func (q *questions) call() string {
	if q == nil {
		return ""
	}
	return q.from.ID
}

// ID identifies the call in the audit records of its steps: it is the id of the HTTP request in which the call began.
func (c *Call) ID() string {
	if id := c.questions.call(); id != "" {
		return id
	}
	return c.Request.String()
}

// resume makes the call go on where its user was asked. The error is for the client.
func (c *Call) resume() error {
	if c.Input == nil || !c.Origin.canAsk() {
		return nil
	}
	if err := c.Input.Read(); err != nil {
		return err
	}
	state := c.Input.State()
	if state == nil {
		return nil
	}
	q := c.ask()
	if err := json.Unmarshal(state, &q.from); err != nil {
		return fmt.Errorf("state of the call: %w", err)
	}
	if c.Plan != nil && q.from.Server != c.Plan.Server {
		return mcp.InvalidParams("the access token selects another server than that of the call that asked the user: call again")
	}
	q.Progress, q.kept, q.resumed = q.from.Progress, q.from.Tool, true
	if a := c.record; a != nil {
		a.start, a.begun = a.start.Add(-q.from.Worked), q.from.Begun
		a.reached[history.Admission] = q.from.Admitted
	}
	return c.expired() // a client that waits has shown its token before the user was asked
}

// expired returns the error of a call that goes on after the access token of its caller has expired; nil if it has not.
func (c *Call) expired() error {
	p, guard := c.Caller.Principal, c.Endpoint.Guard
	if p == nil || guard == nil || p.Until().IsZero() || time.Now().Before(p.Until()) {
		return nil
	}
	return &mcp.Error{
		Code: mcp.CodeInvalidRequest, Message: "the access token has expired: get another one, and call again",
		HTTPStatus: http.StatusUnauthorized, Header: guard.InvalidToken(p),
	}
}

// ask returns the questions of the call, which begin with the first.
func (c *Call) ask() *questions {
	if c.questions == nil {
		c.questions = &questions{Dialogue: elicit.Dialogue{Client: c.Client, Input: c.Input, Accept: c.settle}}
	}
	return c.questions
}

// dialogue returns the dialogue with the user.
func (c *Call) dialogue() *elicit.Dialogue { return &c.ask().Dialogue }

// Ask returns the responses of the user to a round of input requests, by their keys. The error is an [*mcp.InputRequired] if there are none
// yet: the tool returns it, and runs again with what it has kept once they are there.
func (c *Call) Ask(ctx context.Context, round *elicit.Round) (map[string]mcp.InputResponse, error) {
	return c.dialogue().Ask(ctx, round)
}

// Keep keeps a JSON value with the call while the user is asked: what the steps so far have done. It is sealed, and part of what the
// client of a stateless revision brings back. Responses to what is asked afterwards count once.
func (c *Call) Keep(state json.RawMessage) { c.ask().kept = state }

// Kept returns what was kept; nil if nothing was, or the call has just begun.
func (c *Call) Kept() json.RawMessage {
	if c.questions == nil {
		return nil
	}
	return c.questions.kept
}

// settle accepts the state from which the call goes on. If another call went on from it before, this one is counted against the rate limits
// as a call of its own.
func (c *Call) settle(ctx context.Context) error {
	q := c.questions
	if !q.goesOn() || q.settled {
		return nil
	}
	again, err := c.Input.Accept(ctx)
	if err != nil {
		return err
	}
	if q.settled = true; again {
		return c.reject(c.r.Admission.Charge(ctx, c.admissionRequest()))
	}
	return nil
}

// unanswered returns the failure of a call whose user can't be asked, or the error of one that waits for the user or is refused.
func (c *Call) unanswered(err error) (*Failure, error) {
	var need *mcp.InputRequired
	var full *mcp.ElicitationLimitError
	switch {
	case errors.As(err, &need):
		if need, err = c.suspend(need); err != nil {
			return failureIn(c.Internal(c.ctx, err)), nil
		}
		return nil, need
	case errors.As(err, &full) && full.TooLarge:
		return &Failure{telemetry.OutcomeUnanswered, err, tooLargeToWait}, nil
	}
	if because, _ := c.r.RejectWait(err); because != "" {
		err = &Refusal{telemetry.OutcomeLimited, err}
	}
	return nil, c.refused(err)
}

// suspend ends the call until the user has answered, and returns how it goes on.
func (c *Call) suspend(need *mcp.InputRequired) (*mcp.InputRequired, error) {
	q := c.ask()
	s := suspended{ID: c.ID(), Begun: q.from.Begun, Asked: q.from.Asked + 1, Progress: q.Progress, Tool: q.kept}
	if c.Plan != nil {
		s.Server = c.Plan.Server
	}
	if a := c.record; a != nil {
		s.Begun, s.Worked, s.Admitted = a.time(), time.Since(a.start), a.reached[history.Admission]
	}
	state, err := json.Marshal(&s)
	if err != nil {
		return nil, fmt.Errorf("state of the call: %w", err)
	}
	q.waits = true
	c.Done(c.ctx, telemetry.OutcomeAsked, nil)
	return &mcp.InputRequired{Requests: need.Requests, SingleUse: need.SingleUse || q.kept != nil, State: state}, nil
}

// tooLargeToWait is the text for the model if the arguments are too large to be stored while the user is asked.
const tooLargeToWait = "This call has to ask the user something, and its arguments are too large to be kept until there is an answer. Nothing was sent. " +
	"Call again with less in the arguments; if that can't be, tell the user that the call has to be made in another way."
