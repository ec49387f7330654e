package elicit

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"drawbridge/config"
	"drawbridge/gateway/mcp"
	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/jsonschema"
	"drawbridge/openapi/text"
)

// Elicitor asks the questions of one rule or prompt: it asks for the arguments that are not known, and returns their
// values by name. It is immutable.
type Elicitor struct {
	steps [][]*question // in order, none of them empty
	// optional are the names of the arguments that the user is asked for unless the caller gives them, withheld those
	// that the user is always asked for.
	optional, withheld []string
}

// Optional returns the names of the arguments that the user is asked for unless the caller gives them.
func (e *Elicitor) Optional() []string { return e.optional }

// Withheld returns the names of the arguments that the user is always asked for; a caller can't give them.
func (e *Elicitor) Withheld() []string { return e.withheld }

// question is one request to the user.
type question struct {
	key       string
	kind      mcp.InputKind
	message   string // "" if the message names the missing arguments
	untrusted bool   // the text comes from a document
	form      *form
	bindings  []binding
	always    bool   // asked in each call, whether or not the caller gives values
	params    []byte // members of the request's params, for kinds without a form
}

// binding locates the value of an argument in an answer.
type binding struct {
	name     string
	pointer  string // RFC 6901
	field    string // of the form, into which the pointer leads
	required bool
}

// Arguments are the arguments that a user may be asked for.
type Arguments []Argument

// Argument is one argument that a user may be asked for.
type Argument struct {
	Name     string
	Schema   *jsonschema.Schema
	Required bool
}

func (args Arguments) find(name string) (Argument, bool) {
	i := slices.IndexFunc(args, func(a Argument) bool { return a.Name == name })
	if i < 0 {
		return Argument{}, false
	}
	return args[i], true
}

// InputError is the error for a configured input that can't be asked.
type InputError struct {
	Index int    // of the input
	Key   string // the path below it, such as .arguments[0]; "" for the input as a whole
	err   error
}

// Error returns the reason without the position.
func (e *InputError) Error() string { return e.err.Error() }

// Unwrap returns the reason.
func (e *InputError) Unwrap() error { return e.err }

// New makes an elicitor of configured inputs for the given arguments. The error says which input can't be asked, and why.
func New(list []config.Input, args Arguments) (*Elicitor, *InputError) {
	e := &Elicitor{}
	step := 0
	for i := range list {
		c := &list[i]
		q, err := newQuestion(c, args)
		if err == nil {
			err = e.add(q)
		}
		if err != nil {
			var at *InputError
			if !errors.As(err, &at) {
				at = &InputError{err: err}
			}
			at.Index = i
			return nil, at
		}
		if c.Step != step || i == 0 {
			e.steps, step = append(e.steps, nil), c.Step
		}
		last := len(e.steps) - 1
		e.steps[last] = append(e.steps[last], q)
	}
	return e, nil
}

// add records the arguments that a question sets. No two questions set the same argument.
func (e *Elicitor) add(q *question) error {
	for _, b := range q.bindings {
		if slices.Contains(e.optional, b.name) || slices.Contains(e.withheld, b.name) {
			return fmt.Errorf("the argument %q is asked for by an earlier question", b.name)
		}
	}
	for _, b := range q.bindings {
		if q.always {
			e.withheld = append(e.withheld, b.name)
		} else {
			e.optional = append(e.optional, b.name)
		}
	}
	return nil
}

// newQuestion makes one question. All of its faults that a configuration can have are InputErrors with a Key.
func newQuestion(c *config.Input, args Arguments) (*question, error) {
	q := &question{key: c.Key, message: c.Message, untrusted: c.Foreign(), always: c.When == config.InputAlways}
	var err error
	switch c.Kind {
	case config.InputURL:
		q.kind, q.always = mcp.ElicitURL, true
		q.params = jsonscan.AppendString([]byte(`"mode":"url","url":`), c.URL.String())
	case config.InputSample:
		q.kind = mcp.Sample
		q.params = []byte(string(c.Params)[1 : len(c.Params)-1])
	case config.InputRoots:
		q.kind = mcp.Roots
	case config.InputForm:
		q.kind = mcp.ElicitForm
		if c.Schema != "" {
			if q.form, err = configuredForm([]byte(c.Schema)); err != nil {
				err = &InputError{Key: ".schema", err: err}
			}
		} else {
			q.form, err = formOf(c.Arguments, args)
		}
	}
	if err == nil && c.Foreign() && !bytes.Equal(escapeInvisible([]byte(c.Schema)), []byte(c.Schema)) {
		err = &InputError{Key: ".schema", err: errors.New("holds characters that can't be seen")}
	}
	if err == nil && q.untrusted {
		err = q.limitUntrusted()
	}
	if err == nil {
		err = q.bind(c, args)
	}
	if err == nil && q.form != nil && !c.NoSecrets {
		err = q.asksNoSecret()
	}
	return q, err
}

// formOf makes a form for arguments.
func formOf(names []string, args Arguments) (*form, error) {
	f := &form{}
	if len(names) > maxFields {
		return nil, &InputError{Key: ".arguments", err: fmt.Errorf("a form has at most %d fields", maxFields)}
	}
	for i, name := range names {
		at := ".arguments[" + strconv.Itoa(i) + "]"
		v, ok := args.find(name)
		if !ok {
			return nil, &InputError{Key: at, err: args.unknown(name)}
		}
		field, err := fieldOf(name, v.Schema, v.Required)
		if err != nil {
			return nil, &InputError{Key: at, err: fmt.Errorf("a form can't ask for %q: %w", name, err)}
		}
		f.fields = append(f.fields, field)
	}
	return f, nil
}

// unknown is the error for a name that is no argument.
func (args Arguments) unknown(name string) error {
	names := make([]string, len(args))
	for i, v := range args {
		names[i] = v.Name
	}
	return fmt.Errorf("there is no argument %q%s", name, text.DidYouMean(text.Nearest(name, names)))
}

// asksNoSecret returns an error if a form asks for a secret, by the names and formats of its fields and the names of
// the arguments.
func (q *question) asksNoSecret() error {
	suspectNames := q.names()
	for i := range q.form.fields {
		if f := &q.form.fields[i]; f.password {
			return secretError(f.name)
		}
		suspectNames = append(suspectNames, q.form.fields[i].name)
	}
	for _, name := range suspectNames {
		if namesSecret(name) {
			return secretError(name)
		}
	}
	return nil
}

func secretError(name string) error {
	return fmt.Errorf("the field %q looks like that of a secret, which a form must not ask for: the client and its model may keep"+
		" the input; if it is not a secret, set no_secrets: true", name)
}

// bind finds the arguments that an answer gives.
func (q *question) bind(c *config.Input, args Arguments) error {
	if q.form != nil && len(c.Bind) == 0 {
		for i := range q.form.fields {
			name := q.form.fields[i].name
			v, ok := args.find(name)
			if !ok {
				return &InputError{Key: ".schema", err: fmt.Errorf("the field %q gives no argument: %w; bind says which it gives", name, args.unknown(name))}
			}
			q.bindings = append(q.bindings, binding{name: name, pointer: jsonscan.PointerTo(name), field: name, required: v.Required})
		}
		return nil
	}
	for _, v := range args { // in the order of the document
		pointer, ok := c.Bind[v.Name]
		if !ok {
			continue
		}
		b := binding{name: v.Name, pointer: pointer.String(), required: v.Required}
		if q.form != nil {
			for i := range q.form.fields {
				if to := jsonscan.PointerTo(q.form.fields[i].name); b.pointer == to || strings.HasPrefix(b.pointer, to+"/") {
					b.field = q.form.fields[i].name
				}
			}
			if b.field == "" {
				return &InputError{Key: ".bind." + v.Name, err: fmt.Errorf("%q leads to no field of the form", pointer)}
			}
		}
		q.bindings = append(q.bindings, b)
	}
	for name := range c.Bind {
		if _, ok := args.find(name); !ok {
			return &InputError{Key: ".bind." + name, err: args.unknown(name)}
		}
	}
	return nil
}

// names returns the names of the arguments that an answer sets.
func (q *question) names() []string {
	names := make([]string, len(q.bindings))
	for i, b := range q.bindings {
		names[i] = b.name
	}
	return names
}

// value returns the value in an answer; nil if it is missing or null.
func (b *binding) value(answer []byte) []byte {
	if value := jsonscan.At(answer, b.pointer); string(value) != "null" {
		return value
	}
	return nil
}
