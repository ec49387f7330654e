package gateway

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"drawbridge/gateway/mcp"
	"drawbridge/openapi/jsonscan"
)

// asker asks a client; it is a [mcp.Reply].
type asker interface {
	// Askable tells whether questions of all these kinds can be asked; the error is a *mcp.UnableError.
	Askable(kinds ...mcp.Kind) error
	// Ask asks, as [mcp.Reply.Ask] does.
	Ask(ctx context.Context, round mcp.Round) (map[string]mcp.Answer, error)
}

// asking is one run through the questions.
type asking struct {
	asker asker
	// of names what needs the values: `"Create an order" (create) of shop`.
	of string
	// given are the arguments that the user is shown, an object; nil: none.
	given json.RawMessage
	// revision is that of the client.
	revision string
	// legacy tells that the client's revision has requests of the server.
	legacy bool
	// known tells which names have a value that the caller gave.
	known func(name string) bool
	// fits tells what is wrong with the values of one question, all those together that it has given.
	fits func(values map[string]json.RawMessage) error
}

// notAnswered is the end of questions that came to nothing.
type notAnswered struct {
	in    *input
	names []string // that are still missing
	// action is what the user did; 0: nobody was asked, or nothing useful was answered, as cause says.
	action mcp.Action
	cause  error
}

func (e *notAnswered) Error() string {
	switch e.action {
	case mcp.Declined:
		return fmt.Sprintf("the question %q was declined", e.in.key)
	case mcp.Cancelled:
		return fmt.Sprintf("the question %q was not answered", e.in.key)
	case mcp.Accepted:
	}
	return fmt.Sprintf("the question %q could not be asked, or its answers could not be used", e.in.key)
}

func (e *notAnswered) Unwrap() error { return e.cause }

// ask asks step by step for what is not known, and returns the values by name. The error is a *notAnswered, or that of the
// protocol, which [mcp.ErrAsked] is too: the request will come again then.
func (all *inputs) ask(ctx context.Context, a *asking) (map[string]json.RawMessage, error) {
	values := map[string]json.RawMessage{}
	var steps [][]*input
	var needed []mcp.Kind
	var unable *notAnswered
	for _, step := range all.steps {
		var open []*input
		for _, in := range step {
			if !in.open(a) {
				continue
			}
			err, need := a.able(in), in.needed(a)
			if need {
				needed = append(needed, in.kind)
			}
			switch {
			case err == nil:
				open = append(open, in)
			case need && (unable == nil || in.always && !unable.in.always):
				unable = &notAnswered{in: in, names: in.missing(a, true), cause: err}
			}
		}
		if len(open) > 0 {
			steps = append(steps, open)
		}
	}
	// Nobody is asked for what comes to nothing in a later step. What can't be asked and is not needed is left out.
	if unable != nil {
		if err := a.asker.Askable(needed...); err != nil {
			unable.cause = err // which knows all that the client lacks
		}
		return nil, unable
	}
	for _, open := range steps {
		if err := a.round(ctx, open, values); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// able tells whether a question can be asked of this client.
func (a *asking) able(in *input) error {
	if _, err := in.question(a, nil); err != nil {
		return err
	}
	return a.asker.Askable(in.kind)
}

// needed tells that nothing can be done without the answer.
func (in *input) needed(a *asking) bool { return in.always || len(in.missing(a, true)) > 0 }

// open tells whether a question has to be asked.
func (in *input) open(a *asking) bool {
	return in.always || slices.ContainsFunc(in.bind, func(b giving) bool { return !a.known(b.name) })
}

// pointerTo returns the JSON Pointer to a member.
func pointerTo(name string) string {
	return "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}

// missing are the names that a question would give.
func (in *input) missing(a *asking, required bool) (names []string) {
	for _, b := range in.bind {
		if (in.always || !a.known(b.name)) && (b.required || !required) {
			names = append(names, b.name)
		}
	}
	return names
}

// round asks what is open at once.
func (a *asking) round(ctx context.Context, open []*input, values map[string]json.RawMessage) error {
	find := func(key string) *input {
		return open[slices.IndexFunc(open, func(in *input) bool { return in.key == key })]
	}
	round := mcp.Round{
		// What is always asked is asked for each call.
		Once:  slices.ContainsFunc(open, func(in *input) bool { return in.always }),
		Check: func(q *mcp.Question, answer mcp.Answer) error { return a.good(find(q.Key), answer.Value) },
		Again: func(q *mcp.Question, refused error) mcp.Question {
			if again, err := find(q.Key).question(a, refused); err == nil {
				return again
			}
			return *q
		},
	}
	for _, in := range open {
		q, err := in.question(a, nil)
		if err != nil {
			return err
		}
		round.Questions = append(round.Questions, q)
	}
	answers, err := a.asker.Ask(ctx, round)
	var unusable *mcp.UnusableError
	switch {
	case errors.As(err, &unusable):
		in := find(unusable.Key)
		return &notAnswered{in: in, names: in.missing(a, false), cause: err}
	case err != nil:
		return err
	}
	for _, in := range open {
		answer := answers[in.key]
		if answer.Action != mcp.Accepted {
			return &notAnswered{in: in, names: in.missing(a, false), action: answer.Action}
		}
		for name, value := range in.values(a, answer.Value) {
			values[name] = value
		}
	}
	return nil
}

// good tells what is wrong with an answer: by what its values are for, which knows better words, and by the form that was sent.
func (a *asking) good(in *input, answer []byte) error {
	values := in.values(a, answer)
	for _, name := range in.missing(a, true) {
		if values[name] == nil {
			return fmt.Errorf("%s is missing", name)
		}
	}
	if len(values) > 0 {
		if err := a.fits(values); err != nil {
			return err
		}
	}
	if in.form == nil {
		return nil
	}
	return in.form.holds(answer, a.era(), func(name string) bool { return in.shows(a, name) })
}

// values returns what an answer gives of what is not known. What else is in it was not asked for, and is not used.
func (in *input) values(a *asking, answer []byte) map[string]json.RawMessage {
	values := map[string]json.RawMessage{}
	for i := range in.bind {
		b := &in.bind[i]
		if value := b.at(answer); value != nil && (in.always || !a.known(b.name)) {
			values[b.name] = value
		}
	}
	return values
}

// question makes the request; refused is what was wrong with the answer to the last one.
func (in *input) question(a *asking, refused error) (mcp.Question, error) {
	q := mcp.Question{Key: in.key, Kind: in.kind, Params: in.params}
	if in.kind != mcp.Elicit && in.kind != mcp.ElicitURL {
		return q, nil
	}
	message := in.words(a)
	if refused != nil {
		message = fmt.Sprintf("%s The last answer can't be used: %s.", message, shownText(refused.Error(), maxFieldText))
	}
	if len(a.given) > len("{}") { // at the end, so that it can't pass for what stands before it
		message = fmt.Sprintf("%s The arguments so far: %s", message, shownArguments(a.given))
	}
	params := jsonscan.AppendString([]byte(`"message":`), message)
	if in.kind == mcp.ElicitURL {
		q.Params = append(append(params, ','), in.params...)
		if a.legacy { // 2025-11-25 elicitation, URL Mode: an id, of which 2026-07-28 knows nothing
			q.Params = append(q.Params, `,"elicitationId":"`+rand.Text()+`"`...)
		}
		return q, nil
	}
	schema, err := in.form.schema(a.era(), func(name string) bool { return in.shows(a, name) })
	q.Params = append(append(params, `,"requestedSchema":`...), schema...)
	return q, err
}

// era is what forms can say to the client.
func (a *asking) era() formEra {
	if a.revision < "2025-11-25" {
		return formOld
	}
	return formNew
}

// shows tells whether a field is in the form: not if all that it would give is known.
func (in *input) shows(a *asking, field string) bool {
	for _, b := range in.bind {
		if b.field == field && !in.always && a.known(b.name) {
			return false
		}
	}
	return true
}

// words is what the user is told. A document's words never stand alone, so that they can't pass for the gateway's.
func (in *input) words(a *asking) string {
	switch {
	case in.message == "":
		return fmt.Sprintf("%s needs %s.", a.of, strings.Join(in.missing(a, false), ", "))
	case in.foreign:
		return fmt.Sprintf("%s asks: %s", a.of, shownText(in.message, len(in.message)))
	}
	return in.message
}
