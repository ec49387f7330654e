package elicit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"drawbridge/gateway/mcp"
	"drawbridge/openapi/jsonscan"
)

// Request describes the arguments to elicit, and the client.
type Request struct {
	// Dialogue asks.
	Dialogue *Dialogue
	// Subject names the tool or prompt that needs the arguments, for the user: `"Create an order" (create) of shop`.
	Subject string
	// Given holds the arguments that are shown to the user, a JSON object; nil if none are shown.
	Given json.RawMessage
	// Revision is the protocol revision of the client.
	Revision string
	// Known reports whether the caller has given an argument.
	Known func(name string) bool
	// Check validates the values that the answer to one question gives. The error is for the user.
	Check func(values map[string]json.RawMessage) error
}

// Unanswered is the error for arguments that the user did not give.
type Unanswered struct {
	Names  []string   // names of the missing arguments
	Always bool       // the user is asked for them in each call
	Action mcp.Action // of the user; 0 if nobody was asked, or no answer could be used, as the cause says
	key    string     // of the question
	cause  error
}

// Error describes how the question ended.
func (e *Unanswered) Error() string {
	switch e.Action {
	case mcp.Declined:
		return fmt.Sprintf("the question %q was declined", e.key)
	case mcp.Cancelled:
		return fmt.Sprintf("the question %q was not answered", e.key)
	case mcp.Accepted:
	}
	return fmt.Sprintf("the question %q could not be asked, or its answers could not be used", e.key)
}

// Unwrap returns the cause, such as an [*mcp.ClientUnsupportedError]; nil if the user declined or cancelled.
func (e *Unanswered) Unwrap() error { return e.cause }

// unanswered returns the error of a question; required limits its names to those of required arguments.
func (q *question) unanswered(r *Request, required bool, action mcp.Action, cause error) *Unanswered {
	return &Unanswered{Names: q.missing(r, required), Always: q.always, Action: action, key: q.key, cause: cause}
}

// Ask asks for the arguments that are not known, step by step, and returns their values by name. The error is an
// [*Unanswered], or one of the protocol, such as an [*mcp.InputRequired] of a step that has no answer yet.
func (e *Elicitor) Ask(ctx context.Context, r *Request) (map[string]json.RawMessage, error) {
	values := map[string]json.RawMessage{}
	var steps [][]*question
	var needed []mcp.InputKind
	var unable *Unanswered
	for _, step := range e.steps {
		var open []*question
		for _, q := range step {
			if !q.isOpen(r) {
				continue
			}
			err, need := r.able(q), q.isNeeded(r)
			if need {
				needed = append(needed, q.kind)
			}
			switch {
			case err == nil:
				open = append(open, q)
			case need && (unable == nil || q.always && !unable.Always):
				unable = q.unanswered(r, true, 0, err)
			}
		}
		if len(open) > 0 {
			steps = append(steps, open)
		}
	}
	// No question is asked if a later one that is needed can't be. An optional question that can't be asked is skipped.
	if unable != nil {
		if err := r.Dialogue.Client.CanElicit(needed...); err != nil {
			unable.cause = err // it names everything that the client lacks
		}
		return nil, unable
	}
	for _, open := range steps {
		if err := r.round(ctx, open, values); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// able returns an error if the client does not support a question.
func (r *Request) able(q *question) error {
	if _, err := q.build(r, nil); err != nil {
		return err
	}
	return r.Dialogue.Client.CanElicit(q.kind)
}

// isNeeded reports whether the request fails without an answer.
func (q *question) isNeeded(r *Request) bool { return q.always || len(q.missing(r, true)) > 0 }

// isOpen reports whether the question has to be asked.
func (q *question) isOpen(r *Request) bool {
	return q.always || slices.ContainsFunc(q.bindings, func(b binding) bool { return !r.Known(b.name) })
}

// missing returns the names of the arguments that an answer would give.
func (q *question) missing(r *Request, required bool) (names []string) {
	for _, b := range q.bindings {
		if (q.always || !r.Known(b.name)) && (b.required || !required) {
			names = append(names, b.name)
		}
	}
	return names
}

// round asks the questions of one step together, and adds the answers to values.
func (r *Request) round(ctx context.Context, open []*question, values map[string]json.RawMessage) error {
	find := func(key string) *question {
		return open[slices.IndexFunc(open, func(q *question) bool { return q.key == key })]
	}
	round := Round{
		// The answer to a question that is asked in each call counts for one call.
		SingleUse: slices.ContainsFunc(open, func(q *question) bool { return q.always }),
		Check: func(req *mcp.InputRequest, answer mcp.InputResponse) error {
			return r.check(find(req.Key), answer.Value)
		},
		Rephrase: func(req *mcp.InputRequest, refused error) mcp.InputRequest {
			if rebuilt, err := find(req.Key).build(r, refused); err == nil {
				return rebuilt
			}
			return *req
		},
	}
	for _, q := range open {
		built, err := q.build(r, nil)
		if err != nil {
			return err
		}
		round.Requests = append(round.Requests, built)
	}
	answers, err := r.Dialogue.Ask(ctx, &round)
	var unusable *InvalidResponseError
	switch {
	case errors.As(err, &unusable):
		return find(unusable.Key).unanswered(r, false, 0, err)
	case err != nil:
		return err
	}
	for _, q := range open {
		answer := answers[q.key]
		if answer.Action != mcp.Accepted {
			return q.unanswered(r, false, answer.Action, nil)
		}
		for name, value := range q.values(r, answer.Value) {
			values[name] = value
		}
	}
	return nil
}

// check validates an answer: first by [Request.Check], whose messages are better, then by the form that was sent.
func (r *Request) check(q *question, answer []byte) error {
	values := q.values(r, answer)
	for _, name := range q.missing(r, true) {
		if values[name] == nil {
			return fmt.Errorf("%s is missing", name)
		}
	}
	if len(values) > 0 {
		if err := r.Check(values); err != nil {
			return err
		}
	}
	if q.form == nil {
		return nil
	}
	return q.form.validate(answer, r.formRevision(), func(field string) bool { return q.shows(r, field) })
}

// values returns the arguments in an answer. Members that were not requested are ignored.
func (q *question) values(r *Request, answer []byte) map[string]json.RawMessage {
	values := map[string]json.RawMessage{}
	for i := range q.bindings {
		b := &q.bindings[i]
		if value := b.value(answer); value != nil && (q.always || !r.Known(b.name)) {
			values[b.name] = value
		}
	}
	return values
}

// build makes the request to the client; refused is the error of the last answer, nil if there was none.
func (q *question) build(r *Request, refused error) (mcp.InputRequest, error) {
	built := mcp.InputRequest{Key: q.key, Kind: q.kind, Params: q.params}
	if q.kind != mcp.ElicitForm && q.kind != mcp.ElicitURL {
		return built, nil
	}
	message := q.text(r)
	if refused != nil {
		message = fmt.Sprintf("%s The last answer can't be used: %s.", message, ShownText(refused.Error(), maxFieldText))
	}
	if len(r.Given) > len("{}") { // at the end, so that it can't pass for the words before it
		message = fmt.Sprintf("%s The arguments so far: %s", message, shownArguments(r.Given))
	}
	params := jsonscan.AppendString([]byte(`"message":`), message)
	if q.kind == mcp.ElicitURL {
		built.Params = append(append(params, ','), q.params...)
		return built, nil
	}
	schema, err := q.form.schema(r.formRevision(), func(field string) bool { return q.shows(r, field) })
	built.Params = append(append(params, `,"requestedSchema":`...), schema...)
	return built, err
}

// formRevision returns the form features of the client's revision.
func (r *Request) formRevision() formRevision {
	if r.Revision < "2025-11-25" {
		return formBasic
	}
	return formFull
}

// shows reports whether the form has a field: the caller has not given every argument that the field sets.
func (q *question) shows(r *Request, field string) bool {
	for _, b := range q.bindings {
		if b.field == field && !q.always && r.Known(b.name) {
			return false
		}
	}
	return true
}

// text returns the message to the user. A document's words never appear alone, so that they can't pass for the
// gateway's.
func (q *question) text(r *Request) string {
	switch {
	case q.message == "":
		return fmt.Sprintf("%s needs %s.", r.Subject, strings.Join(q.missing(r, false), ", "))
	case q.untrusted:
		return fmt.Sprintf("%s asks: %s", r.Subject, ShownText(q.message, len(q.message)))
	}
	return q.message
}
