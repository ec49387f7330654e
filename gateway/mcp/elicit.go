package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"drawbridge/openapi/jsonscan"
)

// ElicitationRound is a set of input requests that are sent together.
type ElicitationRound struct {
	// Requests have keys that are unique among all input requests of the call.
	Requests []InputRequest
	// SingleUse makes the responses valid once: the same responses, sent again with the same request state, are
	// refused. It is for actions that must not happen twice by one consent. Responses of legacy clients are always
	// valid once only.
	SingleUse bool
	// Check refuses a response, whose input request is then sent again; if nil, every response is valid. Only
	// [Accepted] responses are checked. It must be deterministic.
	Check func(req *InputRequest, a InputResponse) error
	// Rephrase returns an input request with new Params for one whose response was refused; its other fields are
	// ignored, and responses are checked against the original. refused is the error of Check, nil if the response was
	// malformed. If Rephrase is nil, the request is repeated unchanged. After three responses that Check refuses,
	// Elicit returns an *[InvalidInputError]; a legacy client has three attempts in all.
	Rephrase func(req *InputRequest, refused error) InputRequest
	// Timeout limits the time for a legacy client and its user to respond. The default is 5 minutes, the maximum 10.
	// Stateless clients have 10 minutes, and no request waits for them.
	Timeout time.Duration
}

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

// ErrInputRequired reports that the response to the current request consists of the input requests. The method returns
// it, wrapped or not; the client repeats the request with the input responses, and the method runs again.
var ErrInputRequired = errors.New("the client was asked, and will come again")

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

// InvalidInputError reports that the responses to an input request were invalid too often. A method that returns it
// refuses the request.
type InvalidInputError struct {
	Key string // of the input request
	// Refused is the error of Check for the last response, nil if that was malformed.
	Refused error
}

func (e *InvalidInputError) Error() string { return e.Unwrap().Error() }

// Unwrap returns the error that refuses the request.
func (e *InvalidInputError) Unwrap() error {
	return InvalidParams("the client's answer to %q can't be used", e.Key)
}

// Elicit sends input requests to the client and returns the responses by their keys.
//
// For a stateless client (mcp-E1 to E5) a request that needs input ends with the input requests, and the error is
// ErrInputRequired. The client repeats the request with the responses, which Elicit then returns at once. Responses of
// earlier rounds come with the sealed request state, so a method calls Elicit round after round, and does nothing that
// can't be repeated before the last of them. Responses to input requests that have changed since are ignored. Responses
// without a request state are unsolicited: they are accepted by their keys, but not in a SingleUse round.
//
// For a legacy client the input requests are sent on the stream of the call, and Elicit waits for the responses
// (mcp-E9) until round.Timeout passes, ctx ends or the client disconnects.
//
// If too many requests wait, of the caller or in total, the error is an *[ElicitationLimitError]. A response that
// exceeds the memory limit is returned as Cancelled.
//
// The error is an *[ClientUnsupportedError], and nothing is sent, if the client has not declared the capability
// for one of the kinds (mcp-E3) or can't be elicited in this request. Elicit must be called by the method's goroutine.
func (r *Reply) Elicit(ctx context.Context, round ElicitationRound) (map[string]InputResponse, error) {
	x := r.x
	if r.answered {
		return nil, errAnswered
	}
	kinds := make([]InputKind, len(round.Requests))
	for i := range round.Requests {
		kinds[i] = round.Requests[i].Kind
	}
	if err := r.CanElicit(kinds...); err != nil {
		return nil, err
	}
	if x.req.Family == Stateless {
		return r.elicitStateless(round)
	}
	return r.elicitLegacy(ctx, round)
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

// check parses a response and applies the Check of the round, whose error is refused.
func (round *ElicitationRound) check(req *InputRequest, result []byte) (a InputResponse, ok bool, refused error) {
	a, ok = ParseInputResponse(req.Kind, result)
	if ok && a.Action == Accepted && round.Check != nil {
		refused = round.Check(req, a)
		ok = refused == nil
	}
	return a, ok, refused
}

// rephrase returns the input request to send after a response that was refused.
func (round *ElicitationRound) rephrase(req *InputRequest, refused error) InputRequest {
	next := *req
	if round.Rephrase != nil {
		next.Params = round.Rephrase(req, refused).Params
	}
	return next
}
