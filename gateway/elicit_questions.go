package gateway

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
		if c.Step != step || i == 0 {
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
	if err == nil && c.Foreign() && !bytes.Equal(visible([]byte(c.Schema)), []byte(c.Schema)) {
		err = &inputError{key: ".schema", err: errors.New("holds characters that can't be seen")}
	}
	if err == nil && in.foreign {
		err = in.foreignWords()
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
