package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
)

// Input is what a request brings to go on with a method that has returned an [*InputRequired]: the state, and the responses. One without a
// state brings unsolicited responses: a client may know in advance which input is needed, and whether a state is required is the server's
// decision (2026-07-28 patterns/mrtr). Only the goroutine of the method uses it. A nil Input brings nothing.
type Input struct {
	x         *exchange // of the request; nil if the input is no stateless client's
	unread    bool
	of        *Input // whose responses and use these are; nil if they are its own
	state     json.RawMessage
	responses map[string]json.RawMessage
	failed    error         // why there are no responses; nil if there are
	sealed    *requestState // nil unless a stateless client has brought the state
	accepted  bool
	again     bool // the state was accepted before, in another request
}

// NewInput returns the input of a method that goes on in the same process, or in another by means of the caller. A response that is nil
// stands for one that the client could not give.
func NewInput(state json.RawMessage, responses map[string]json.RawMessage) *Input {
	return &Input{state: state, responses: responses}
}

// Input returns what the request brings. It is read by [Input.Read], since most methods never ask.
func (r *Reply) Input() *Input {
	if r.x.input == nil {
		r.x.input = new(Input)
		if r.x.req.Family == Stateless {
			r.x.input.x, r.x.input.unread = r.x, true
		}
	}
	return r.x.input
}

// Read reads the input, once. The error is for the client: the state is not one of this request, caller or time.
func (in *Input) Read() error {
	if in == nil || !in.unread {
		return nil
	}
	in.unread = false
	return in.x.readInput(in)
}

// Of returns the input of a step: the responses are the same, and the state is that of the step.
func (in *Input) Of(state json.RawMessage) *Input {
	if state == nil {
		return nil
	}
	return &Input{of: in, state: state}
}

// State returns the state with which the method has asked; nil if it has not.
func (in *Input) State() json.RawMessage {
	if in == nil {
		return nil
	}
	return in.state
}

// Response returns the response to an input request, which is nil if the client could not give one.
func (in *Input) Response(key string) (response json.RawMessage, ok bool) {
	switch {
	case in == nil:
		return nil, false
	case in.of != nil:
		return in.of.Response(key)
	}
	response, ok = in.responses[key]
	return response, ok
}

// Waits reports whether the request waits while the client responds. Otherwise each response comes with another request.
func (in *Input) Waits() bool {
	if in != nil && in.of != nil {
		return in.of.Waits()
	}
	return in != nil && in.x == nil
}

// Err returns why the input requests could not be sent, or had no response in time; nil if that is not so. The method ends with it.
func (in *Input) Err() error {
	switch {
	case in == nil:
		return nil
	case in.of != nil:
		return in.of.Err()
	}
	return in.failed
}

// Accept marks the state as used, because its responses are complete and the method goes on. again reports that it was used before: what
// follows is another call. If the responses count once, that is an error for the client.
func (in *Input) Accept(ctx context.Context) (again bool, err error) {
	switch {
	case in == nil:
		return false, nil
	case in.of != nil:
		return in.of.Accept(ctx)
	case in.sealed == nil || in.accepted:
		return in.again, nil
	}
	x, s := in.x, in.sealed
	if x.h.o.SpentNonces == nil {
		return true, errors.New("nothing remembers what may be used once (Options.SpentNonces)")
	}
	first, err := x.h.o.SpentNonces.Spend(ctx, x.req.Principal, s.Nonce, s.expiry)
	switch {
	case err != nil && s.SingleUse:
		return true, x.internalError("a state could not be marked as used", http.StatusServiceUnavailable, slog.Any("error", err))
	case !first && s.SingleUse:
		return true, InvalidParams("params.requestState was used before, and an answer counts once: nothing more is done for it; begin again without it")
	}
	in.accepted, in.again = true, !first || err != nil
	return in.again, nil
}
