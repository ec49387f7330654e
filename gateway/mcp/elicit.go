package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"

	"drawbridge/openapi/jsonscan"
)

// InputRequired is the error of a method, or of one of its steps, that needs input from the client or its user to go on (2026-07-28
// patterns/mrtr, InputRequiredResult). The handler sends the requests, and runs the method again with the responses: [Reply.Input] has them,
// and the state. A stateless client brings both with another request, at any replica; a legacy client responds while its request waits. The
// method does not see the difference.
type InputRequired struct {
	// Requests have keys that are unique among all input requests of the call.
	Requests []InputRequest
	// SingleUse makes the responses valid once: the same responses, sent again with the same request state, are refused. It is for actions
	// that must not happen twice by one consent, and for a state that stands for what was done.
	SingleUse bool
	// State is what the method needs to go on. Clients get it sealed, bound to the caller and the request.
	State json.RawMessage
}

// Error implements error.
func (*InputRequired) Error() string { return "input is required from the client" }

// Action is the outcome of an input request.
type Action uint8

// The actions.
const (
	Accepted  Action = iota + 1 // the response has the input
	Declined                    // the user has declined
	Cancelled                   // the user has not decided, or the client could not ask
)

// InputResponse is a client's response to an input request.
type InputResponse struct {
	Action Action
	// Value is the content of an accepted form, an object, nil if it is absent; or the result of sampling or roots. It
	// is not checked against the schema of the form.
	Value json.RawMessage
}

// errInputRequired reports that the response to a stateless request consists of the input requests.
var errInputRequired = errors.New("the client was asked, and will come again")

// ErrNoClient is the error of elicitation where there is no client.
var ErrNoClient = &ClientUnsupportedError{reason: InvalidParams("no client waits for the answer")}

// ClientUnsupportedError reports that the client, or the form of its request, does not support what a method needs:
// elicitation or tasks. The method may go on without it, or return the error to refuse the request.
type ClientUnsupportedError struct {
	// Missing are the capabilities that the client has not declared, 0 if the request itself doesn't allow it.
	Missing ClientCapabilities
	reason  *Error
}

func (e *ClientUnsupportedError) Error() string {
	return "the client can't be asked: " + e.reason.Message
}

// Unwrap returns the error that refuses the request.
func (e *ClientUnsupportedError) Unwrap() error { return e.reason }

// elicit sends input requests to the client. A stateless request ends with them, and the error is errInputRequired (mcp-E1 to E5). For a
// legacy client elicit waits for the responses, which it returns by their keys (mcp-E9).
//
// The error is a *[ClientUnsupportedError], and nothing is sent, if the client has not declared the capability for one of the kinds (mcp-E3)
// or can't be asked in this request; or an *[ElicitationLimitError] if too many requests wait, of the caller or in total.
func (r *Reply) elicit(ctx context.Context, need *InputRequired) (map[string]json.RawMessage, error) {
	if r.answered {
		return nil, errAnswered
	}
	kinds := make([]InputKind, len(need.Requests))
	for i := range need.Requests {
		kinds[i] = need.Requests[i].Kind
	}
	if err := r.CanElicit(kinds...); err != nil {
		return nil, err
	}
	if r.x.req.Family == Stateless {
		return nil, r.requireInput(need)
	}
	return r.elicitLegacy(ctx, need.Requests)
}

// CanElicit returns an *[ClientUnsupportedError] unless the client supports input requests of all these kinds.
func (r *Reply) CanElicit(kinds ...InputKind) error {
	x := r.x
	var need ClientCapabilities
	for _, kind := range kinds {
		need |= kind.Requires()
	}
	if lacks := need &^ x.req.Client; lacks != 0 {
		return &ClientUnsupportedError{Missing: lacks, reason: missingCapability(lacks)}
	}
	if x.req.Family == Legacy {
		if e := x.elicitationRefusal(kinds); e != nil {
			return &ClientUnsupportedError{reason: e}
		}
	}
	return nil
}

// ParseInputResponse parses a client's response to an input request; it returns false if it is malformed.
func ParseInputResponse(kind InputKind, result []byte) (InputResponse, bool) {
	if jsonscan.KindOf(result) != jsonscan.Object {
		return InputResponse{}, false
	}
	switch kind {
	case ElicitForm, ElicitURL:
		action, _ := decodeString(jsonscan.Lookup(result, "action"))
		switch action {
		case "accept":
			content := jsonscan.Lookup(result, "content")
			if objectKind(content) == jsonscan.Object {
				if isEmptyList(content) {
					content = []byte("{}")
				}
				return InputResponse{Accepted, content}, true
			}
			return InputResponse{Action: Accepted}, kind == ElicitURL
		case "decline":
			return InputResponse{Action: Declined}, true
		case "cancel":
			return InputResponse{Action: Cancelled}, true
		}
	case Sample:
		return InputResponse{Accepted, result}, jsonscan.Lookup(result, "content") != nil
	case Roots:
		return InputResponse{Accepted, result}, jsonscan.KindOf(jsonscan.Lookup(result, "roots")) == jsonscan.Array
	}
	return InputResponse{}, false
}

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
