package gateway

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"drawbridge/config"
	"drawbridge/gateway/mcp"
	"drawbridge/openapi/jsonscan"
)

// inputs are the questions that have to be answered before something is done. They know nothing of what that is: they ask for
// what is not known and return values by name. They are immutable.
type inputs struct {
	steps [][]*input // in order, none of them empty
	// optional are the names for which somebody may be asked, withheld those that are always asked for.
	optional, withheld []string
}

// input is one question.
type input struct {
	key     string
	kind    mcp.Kind
	message string // "": that it is needed
	foreign bool   // the words are a document's
	form    *form
	bind    []giving
	always  bool
	params  []byte // of the kinds that have no form: members of the request's params
}

// giving says where in an answer the value of a name stands.
type giving struct {
	name     string
	pointer  string // RFC 6901
	field    string // of the form, into which the pointer leads
	required bool   // nothing can be done without it
}

// wanted is what values are asked for, and what is said of them.
type wanted struct {
	root   []byte // the $defs of the schemas
	values []wantedValue
}

type wantedValue struct {
	name     string
	schema   []byte
	required bool
}

func (w *wanted) find(name string) (wantedValue, bool) {
	i := slices.IndexFunc(w.values, func(v wantedValue) bool { return v.name == name })
	if i < 0 {
		return wantedValue{}, false
	}
	return w.values[i], true
}

// An inputError says which input can't be used.
type inputError struct {
	index int    // of the input
	key   string // the path below it, such as .arguments[0]; "" is the input as a whole
	err   error
}

func (e *inputError) Error() string { return e.err.Error() }

func (e *inputError) Unwrap() error { return e.err }

// newInputs makes the questions of what is wanted.
func newInputs(list []config.Input, w *wanted) (*inputs, *inputError) {
	all := &inputs{}
	step := 0
	for i := range list {
		c := &list[i]
		in, err := newInput(c, w)
		if err == nil {
			err = all.add(in)
		}
		if err != nil {
			var at *inputError
			if !errors.As(err, &at) {
				at = &inputError{err: err}
			}
			at.index = i
			return nil, at
		}
		if c.Step != step {
			all.steps, step = append(all.steps, nil), c.Step
		}
		last := len(all.steps) - 1
		all.steps[last] = append(all.steps[last], in)
	}
	return all, nil
}

// add enters the names that a question gives.
func (all *inputs) add(in *input) error {
	for _, b := range in.bind {
		if slices.Contains(all.optional, b.name) || slices.Contains(all.withheld, b.name) {
			return fmt.Errorf("the argument %q is asked for by an earlier question", b.name)
		}
	}
	for _, b := range in.bind {
		if in.always {
			all.withheld = append(all.withheld, b.name)
		} else {
			all.optional = append(all.optional, b.name)
		}
	}
	return nil
}

func newInput(c *config.Input, w *wanted) (*input, error) {
	in := &input{key: c.Key, message: c.Message, foreign: c.Foreign(), always: c.When == config.InputAlways}
	var err error
	switch c.Kind {
	case config.InputURL:
		in.kind, in.always = mcp.ElicitURL, true
		in.params = jsonscan.AppendString([]byte(`"mode":"url","url":`), c.URL.String())
	case config.InputSample:
		in.kind = mcp.Sample
		in.params = []byte(string(c.Params)[1 : len(c.Params)-1])
	case config.InputRoots:
		in.kind = mcp.Roots
	case config.InputForm:
		in.kind = mcp.Elicit
		if c.Schema != "" {
			in.form, err = in.written(c)
		} else {
			in.form, err = formOf(c.Arguments, w)
		}
	}
	if err == nil {
		err = in.binds(c, w)
	}
	if err == nil && in.form != nil && !c.NoSecrets {
		err = in.free()
	}
	return in, err
}

func (in *input) written(c *config.Input) (*form, error) {
	f, err := writtenForm([]byte(c.Schema))
	if err != nil {
		return nil, &inputError{key: ".schema", err: err}
	}
	return f, nil
}

// formOf makes a form for arguments.
func formOf(names []string, w *wanted) (*form, error) {
	f := &form{}
	if len(names) > maxFields {
		return nil, &inputError{key: ".arguments", err: fmt.Errorf("a form has at most %d fields", maxFields)}
	}
	for i, name := range names {
		at := ".arguments[" + strconv.Itoa(i) + "]"
		v, ok := w.find(name)
		if !ok {
			return nil, &inputError{key: at, err: w.unknown(name)}
		}
		field, err := fieldOf(w.root, name, v.schema, v.required)
		if err != nil {
			return nil, &inputError{key: at, err: fmt.Errorf("a form can't ask for %q: %w", name, err)}
		}
		f.fields = append(f.fields, field)
	}
	return f, nil
}

func (w *wanted) unknown(name string) error {
	names := make([]string, len(w.values))
	for i, v := range w.values {
		names[i] = v.name
	}
	text := fmt.Sprintf("there is no argument %q", name)
	if near := config.Nearest(name, names); near != "" {
		text += fmt.Sprintf("; did you mean %q?", near)
	}
	return errors.New(text)
}

// free tells that a form asks for no secrets, by the names and formats of its fields and what they give.
func (in *input) free() error {
	suspects := in.names()
	for i := range in.form.fields {
		if f := &in.form.fields[i]; f.password {
			return secretError(f.name)
		}
		suspects = append(suspects, in.form.fields[i].name)
	}
	for _, name := range suspects {
		if secretName(name) {
			return secretError(name)
		}
	}
	return nil
}

func secretError(name string) error {
	return fmt.Errorf("the field %q looks like that of a secret, which a form must not ask for: the client and its model may keep"+
		" what is typed; no_secrets: true says that it is none", name)
}

// binds finds out which names the answer gives.
func (in *input) binds(c *config.Input, w *wanted) error {
	if in.form != nil && len(c.Bind) == 0 {
		for i := range in.form.fields {
			name := in.form.fields[i].name
			v, ok := w.find(name)
			if !ok {
				return &inputError{key: ".schema", err: fmt.Errorf("the field %q gives no argument: %w; bind says which it gives", name, w.unknown(name))}
			}
			in.bind = append(in.bind, giving{name: name, pointer: pointerTo(name), field: name, required: v.required})
		}
		return nil
	}
	for _, v := range w.values { // in the order of the author
		pointer, ok := c.Bind[v.name]
		if !ok {
			continue
		}
		g := giving{name: v.name, pointer: pointer.String(), required: v.required}
		if in.form != nil {
			for i := range in.form.fields {
				if to := pointerTo(in.form.fields[i].name); g.pointer == to || strings.HasPrefix(g.pointer, to+"/") {
					g.field = in.form.fields[i].name
				}
			}
			if g.field == "" {
				return &inputError{key: ".bind." + v.name, err: fmt.Errorf("%q leads to no field of the form", pointer)}
			}
		}
		in.bind = append(in.bind, g)
	}
	for name := range c.Bind {
		if _, ok := w.find(name); !ok {
			return &inputError{key: ".bind." + name, err: w.unknown(name)}
		}
	}
	return nil
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

func (in *input) names() []string {
	names := make([]string, len(in.bind))
	for i, b := range in.bind {
		names[i] = b.name
	}
	return names
}

// at returns the value that an answer gives; nil if there is none, or null.
func (g *giving) at(answer []byte) []byte {
	if value := jsonscan.At(answer, g.pointer); string(value) != "null" {
		return value
	}
	return nil
}

// asker asks a client; it is a [mcp.Reply].
type asker interface {
	Ask(ctx context.Context, round mcp.Round) (map[string]mcp.Answer, error)
}

// asking is one run through the questions.
type asking struct {
	asker asker
	// of names what needs the values: `"Create an order" (create) of shop`.
	of string
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
	for _, step := range all.steps {
		var open []*input
		for _, in := range step {
			if in.open(a) {
				open = append(open, in)
			}
		}
		if err := a.round(ctx, open, values); err != nil {
			return nil, err
		}
	}
	return values, nil
}

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

// round asks what is open at once. A question that can't be asked is left out if all goes on without it.
func (a *asking) round(ctx context.Context, open []*input, values map[string]json.RawMessage) error {
	for len(open) > 0 {
		answers, failed, err := a.try(ctx, open)
		var unable *mcp.UnableError
		switch {
		case errors.Is(err, errOldForm), errors.As(err, &unable):
			in := open[failed]
			if in.always || len(in.missing(a, true)) > 0 {
				return &notAnswered{in: in, names: in.missing(a, true), cause: err}
			}
			open = slices.Delete(slices.Clone(open), failed, failed+1)
			continue
		case err != nil:
			var unusable *mcp.UnusableError
			if errors.As(err, &unusable) {
				in := open[slices.IndexFunc(open, func(in *input) bool { return in.key == unusable.Key })]
				return &notAnswered{in: in, names: in.missing(a, false), cause: err}
			}
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
	return nil
}

// try asks; failed is the question because of which that could not be done.
func (a *asking) try(ctx context.Context, open []*input) (answers map[string]mcp.Answer, failed int, err error) {
	round := mcp.Round{
		Check: func(q *mcp.Question, answer mcp.Answer) error {
			in := open[slices.IndexFunc(open, func(in *input) bool { return in.key == q.Key })]
			return a.good(in, answer.Value)
		},
		Again: func(q *mcp.Question, refused error) mcp.Question {
			i := slices.IndexFunc(open, func(in *input) bool { return in.key == q.Key })
			again, err := open[i].question(a, refused)
			if err != nil {
				return *q
			}
			return again
		},
	}
	for i, in := range open {
		q, err := in.question(a, nil)
		if err != nil {
			return nil, i, err
		}
		round.Questions = append(round.Questions, q)
	}
	answers, err = a.asker.Ask(ctx, round)
	var unable *mcp.UnableError
	if errors.As(err, &unable) {
		failed = slices.IndexFunc(open, func(in *input) bool { return unable.Missing == 0 || in.kind.Needs()&unable.Missing != 0 })
	}
	return answers, failed, err
}

// good tells what is wrong with an answer.
func (a *asking) good(in *input, answer []byte) error {
	values := in.values(a, answer)
	for _, name := range in.missing(a, true) {
		if values[name] == nil {
			return fmt.Errorf("%s is missing", name)
		}
	}
	if len(values) == 0 {
		return nil
	}
	return a.fits(values)
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
		message = fmt.Sprintf("%s The last answer can't be used: %s", message, shownText(refused.Error(), maxFieldText))
	}
	params := jsonscan.AppendString([]byte(`"message":`), message)
	if in.kind == mcp.ElicitURL {
		q.Params = append(append(params, ','), in.params...)
		if a.legacy { // 2025-11-25 elicitation, URL Mode: an id, of which 2026-07-28 knows nothing
			q.Params = append(q.Params, `,"elicitationId":"`+rand.Text()+`"`...)
		}
		return q, nil
	}
	era := formNew
	if a.revision < "2025-11-25" {
		era = formOld
	}
	schema, err := in.form.schema(era, func(name string) bool { return in.shows(a, name) })
	q.Params = append(append(params, `,"requestedSchema":`...), schema...)
	return q, err
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
