package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"drawbridge/openapi/jsonscan"
)

// Round is what a method asks at once.
type ElicitationRound struct {
	// Questions are asked together. Their keys are unique among all questions of the
	// call.
	Requests []InputRequest
	// Once makes the answers good for one use: the same answers, sent again with the same
	// state, are refused. It is for what must not happen twice by one consent. Legacy
	// answers are good once anyway.
	SingleUse bool
	// Check refuses an answer that is not good enough, which is asked for again; nil:
	// every answer is. Only answers with [Accepted] are checked. It must give the same
	// verdict each time.
	Check func(req *InputRequest, a InputResponse) error
	// Again words a question anew whose answer was refused, with the error of Check, nil if
	// it was no answer at all. Only Params of what it returns counts, and answers are held
	// against the question as it was. nil: the question is asked in the same words. After
	// three answers that Check refuses the error of Ask is an *[UnusableError]; a legacy
	// client has three attempts in all.
	Rephrase func(req *InputRequest, refused error) InputRequest
	// Wait is how long a legacy client may take, with the user behind it; 0: 5 minutes,
	// and never more than 10. Modern clients have 10 minutes, and nobody waits for them.
	Timeout time.Duration
}

// Action is what became of a question.
type Action uint8

// What can become of a question.
const (
	Accepted  Action = iota + 1 // it was answered
	Declined                    // the user has said no
	Cancelled                   // the user has not decided, or the client could not ask
)

// Answer is what a client has answered.
type InputResponse struct {
	Action Action
	// Value is the content of an accepted form, an object, nil if there is none; or the
	// result of sampling or roots. It is from the client: nothing in it was checked
	// against the schema of the form.
	Value json.RawMessage
}

// ErrAsked tells that the questions are on their way to the client and that the answer
// to this request is given with them. The method returns it, wrapped or not; the
// client sends the request again with the answers, and the method runs anew.
var ErrInputRequired = errors.New("the client was asked, and will come again")

// UnableError tells that a client can't be asked; what happens then is the method's to
// decide. A method that returns it refuses the request.
type ElicitationUnsupportedError struct {
	// Missing is what the client would have to declare; 0 if it is not that, but the way in
	// which the request came.
	Missing ClientCapabilities
	reason  *Error
}

func (e *ElicitationUnsupportedError) Error() string {
	return "the client can't be asked: " + e.reason.Message
}

// Unwrap returns the error to refuse the request with.
func (e *ElicitationUnsupportedError) Unwrap() error { return e.reason }

// UnusableError tells that a client has answered a question again and again with what
// can't be used. A method that returns it refuses the request.
type InvalidInputError struct {
	Key string // of the question
	// Refused is what Check has said of the last answer; nil if it was no answer at all.
	Refused error
}

func (e *InvalidInputError) Error() string { return e.Unwrap().Error() }

// Unwrap returns the error to refuse the request with.
func (e *InvalidInputError) Unwrap() error {
	return InvalidParams("the client's answer to %q can't be used", e.Key)
}

// Ask asks the client, and returns its answers by the keys of the questions.
//
// In the modern era (mcp-E1 to E5) a request that has to ask ends with the questions,
// and the error is ErrAsked. The client sends it again with the answers, and Ask
// returns them at once. What was answered in earlier rounds comes with the request's
// sealed state, so a method just asks one round after the other, and does nothing that
// can't be repeated before the last of them. Answers to questions that are not asked
// (any more) in these words do not count. Answers that come without any state were not
// asked for: they count by their keys, but not in a round with Once.
//
// In the legacy era the questions are requests on the stream of the call, and Ask waits
// for the answers (mcp-E9), as long as Round.Wait, ctx and the client's connection
// last.
//
// While too much waits already, of the caller or in all, the error is a *FullError. Of an answer for which there is no room the
// action is Cancelled.
//
// A client that can't be asked gives an *UnableError; so does one that has not declared
// even one of the kinds, and nothing is asked then (mcp-E3). Ask belongs to the method's
// goroutine.
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

// Askable tells whether the client can be asked questions of all these kinds; the error
// is an *UnableError.
func (r *Reply) CanElicit(kinds ...InputKind) error {
	x := r.x
	var need ClientCapabilities
	for _, kind := range kinds {
		need |= kind.Requires()
	}
	if lacks := need &^ x.req.Client; lacks != 0 {
		return &ElicitationUnsupportedError{Missing: lacks, reason: missingCapability(lacks)}
	}
	if x.req.Family == Legacy {
		if e := x.elicitationRefusal(kinds); e != nil {
			return &ElicitationUnsupportedError{reason: e}
		}
	}
	return nil
}

// parseAnswer reads a client's result for a question; false if it is none.
func parseInputResponse(kind InputKind, result []byte) (InputResponse, bool) {
	if jsonscan.KindOf(result) != jsonscan.Object {
		return InputResponse{}, false
	}
	switch kind {
	case ElicitForm, ElicitURL:
		action, _ := decodeString(jsonscan.Lookup(result, "action"))
		switch action {
		case "accept":
			content := jsonscan.Lookup(result, "content")
			if jsonscan.KindOf(content) == jsonscan.Object {
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

// ParseAnswer reads what a client answers to a question of this kind, as tasks/update brings it; false if it is no answer.
func ParseInputResponse(kind InputKind, result []byte) (InputResponse, bool) {
	return parseInputResponse(kind, result)
}

// accept reads an answer and holds it against what the round demands. refused is what
// Check has said.
func (round *ElicitationRound) check(req *InputRequest, result []byte) (a InputResponse, ok bool, refused error) {
	a, ok = parseInputResponse(req.Kind, result)
	if ok && a.Action == Accepted && round.Check != nil {
		refused = round.Check(req, a)
		ok = refused == nil
	}
	return a, ok, refused
}

// again words a question whose answer was refused.
func (round *ElicitationRound) rephrase(req *InputRequest, refused error) InputRequest {
	next := *req
	if round.Rephrase != nil {
		next.Params = round.Rephrase(req, refused).Params
	}
	return next
}
