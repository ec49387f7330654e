package openapi

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/jsonschema"
	"drawbridge/openapi/schema"
	"drawbridge/openapi/typescript"
)

// A model is told the arguments of an operation after a call with wrong ones. The text is read from the published
// schema, so that it can't differ from it; the cost is paid only by wrong calls.

// maxExample is the longest example in bytes.
const maxExample = 600

// appendArguments appends what the operation takes, with the arguments that the faults are about, and an example that shows them in their
// places. accepts reports whether a call with the example is sent.
func (o *Operation) appendArguments(b *strings.Builder, faults []Fault, accepts func(args []byte) bool) {
	input := o.inputSchema()
	all := input.Members()
	if len(all) == 0 {
		if string(input.Value("additionalProperties")) == "false" {
			b.WriteString("It takes no arguments.\n")
		}
		return
	}
	faulty := o.faultyPlaces(faults)
	b.WriteString("It takes (" + typescript.Arguments(input, typescript.Options{Query: strings.Join(slices.Concat(faulty...), " ")}) + ").\n")
	required := slices.ContainsFunc(all, func(m jsonschema.Member) bool { return m.Required })
	example, invented := o.smallest(!required, faulty, accepts)
	if example == nil && len(faulty) > 0 {
		example, invented = o.smallest(!required, nil, accepts) // there may be no room for the others
	}
	if example != nil {
		b.WriteString(ExampleText(example, invented))
		b.WriteByte('\n')
	}
}

// faultyPlaces returns the places that faults are about as paths of names, and those inside the body of arguments that stand beside it.
func (o *Operation) faultyPlaces(faults []Fault) (places [][]string) {
	for _, f := range faults {
		var place []string
		for token := range strings.SplitSeq(strings.TrimPrefix(f.Pointer, "/"), "/") {
			if _, err := strconv.Atoi(token); err != nil && token != "" {
				place = append(place, jsonscan.UnescapeToken(token))
			}
		}
		if len(place) == 0 {
			continue
		}
		places = append(places, place)
		if body := o.bodyArgument(); body != "" && strings.HasSuffix(f.Message, insideBody(body)) {
			places = append(places, append([]string{body}, place...))
		}
	}
	return places
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
func (o *Operation) smallest(optional bool, also [][]string, accepts func(args []byte) bool) (example []byte, invented []string) {
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
