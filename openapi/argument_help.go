package openapi

import (
	"fmt"
	"slices"
	"strings"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/jsonschema"
	"drawbridge/openapi/schema"
)

// A model is told the arguments of an operation after a call with wrong ones. The text is read from the published
// schema, so that it can't differ from it; the cost is paid only by wrong calls.

const (
	// maxListed is where lists in messages to a model are cut: it has the schema, this is a reminder.
	maxListed = 30
	// maxExample is the longest example in bytes.
	maxExample = 600
)

// appendArguments appends what the operation takes, and an example: first what the faults are about, then what is
// required. accepts reports whether a call with the example is sent.
func (o *Operation) appendArguments(b *strings.Builder, faults []Fault, accepts func(args []byte) bool) {
	input := o.inputSchema()
	all := input.Members()
	if len(all) == 0 {
		if string(input.Value("additionalProperties")) == "false" {
			b.WriteString("It takes no arguments.\n")
		}
		return
	}
	faulty := o.faultyArguments(faults)
	rank := func(m jsonschema.Member) int {
		switch {
		case len(all) > maxListed && slices.Contains(faulty, m.Name):
			return 0 // it must not be cut off
		case m.Required:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(all, func(a, b jsonschema.Member) int { return rank(a) - rank(b) })
	required := slices.ContainsFunc(all, func(m jsonschema.Member) bool { return m.Required })
	b.WriteString("It takes: ")
	for i, m := range all[:min(len(all), maxListed)] {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(m.Name + " (" + phrase(m.Schema))
		if m.Required {
			b.WriteString(", required")
		}
		b.WriteByte(')')
	}
	if len(all) > maxListed {
		b.WriteString(", …")
	}
	b.WriteString(".\n")
	if example, invented := o.smallest(!required, faulty, accepts); example != nil {
		b.WriteString(ExampleText(example, invented))
		b.WriteByte('\n')
	}
}

// faultyArguments returns the arguments that faults are about, and the body with one that belongs inside it.
func (o *Operation) faultyArguments(faults []Fault) (names []string) {
	for _, f := range faults {
		first, _, _ := strings.Cut(strings.TrimPrefix(f.Pointer, "/"), "/")
		if name, ok := topLevel("/" + first); ok && name != "" {
			names = append(names, name)
			if body := o.bodyArgument(); body != "" && strings.HasSuffix(f.Message, insideBody(body)) {
				names = append(names, body)
			}
		}
	}
	return names
}

// bodyArgument returns the name of the argument that is the whole body, or "".
func (o *Operation) bodyArgument() string {
	if o.body == nil || o.body.form != formWhole {
		return ""
	}
	return o.arguments[o.body.first].name
}

// insideBody returns the hint for an argument that is given beside the body to which it belongs.
func insideBody(body string) string { return fmt.Sprintf("it belongs inside %q", body) }

// smallest returns arguments with which a call is sent: what is required, and also what is named, or, where nothing is
// required, what the document gives examples of, and which of them are invented. It is nil when none are found.
func (o *Operation) smallest(optional bool, also []string, accepts func(args []byte) bool) (example []byte, invented []string) {
	v, err := o.validator()
	if err != nil {
		return nil, nil
	}
	example, ok := v.Example(schema.ExampleOptions{MaxBytes: maxExample, Documented: optional, Also: also, Invented: &invented})
	if !ok || string(example) == "{}" || !accepts(example) {
		return nil, nil
	}
	return example, invented
}

// phrase returns "string", "array of integer", "one of \"a\", \"b\"" …
func phrase(s *jsonschema.Schema) string {
	s = s.Resolve()
	if enum := s.Value("enum"); enum != nil && len(enum) <= 120 {
		var values []string
		for v := range jsonscan.Elements(enum) {
			values = append(values, string(v))
		}
		return "one of " + strings.Join(values, ", ")
	}
	if names := s.Types(); len(names) > 0 {
		if items := s.Schema("items").Allowed(); s.Text("type") == "array" && len(items) > 0 {
			return "array of " + strings.Join(items, " or ")
		}
		return strings.Join(names, " or ")
	}
	if names := s.Allowed(); len(names) > 0 {
		return strings.Join(names, " or ")
	}
	return "see the schema"
}

// declares reports whether an object schema names a member.
func declares(s *jsonschema.Schema, name string) bool {
	return slices.ContainsFunc(s.Members(), func(m jsonschema.Member) bool { return m.Name == name })
}

// misplaced returns the hint for an argument in the wrong place: a member of the body that was given beside it, or a body
// whose members belong beside the parameters. It returns "" for any other.
func (o *Operation) misplaced(name string) string {
	if o.body == nil {
		return ""
	}
	input := o.inputSchema()
	switch {
	case declares(input, name):
		return ""
	case o.body.form == formWhole:
		if body := o.bodyArgument(); declares(input.Property(body), name) {
			return fmt.Sprintf("unknown argument %q; %s", name, insideBody(body))
		}
	case name == "body" && o.body.form == formMembers:
		return `unknown argument "body"; its members stand beside the parameters`
	case name == "body":
		return `unknown argument "body"; its members are the arguments`
	}
	return ""
}
