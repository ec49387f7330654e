package openapi

import (
	"fmt"
	"slices"
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
// places. args are the arguments that have the faults, and accepts reports whether a call with the example is sent.
func (o *Operation) appendArguments(b *strings.Builder, args []byte, faults []Fault, accepts func(args []byte) bool) {
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
	of := func(places [][]string) (example []byte, invented []string) {
		return o.smallest(schema.ExampleOptions{Documented: !required && len(places) == 0, Also: places, Near: args}, accepts)
	}
	example, invented := of(faulty)
	if example == nil && len(faulty) > 0 { // there may be no room for all, or no value for one
		example, invented = of(nil)
		var shown [][]string
		for _, place := range faulty[:min(len(faulty), maxPlaces)] {
			for end := len(place); end > 0; end-- { // the member may be the fault
				if more, made := of(append(shown, place[:end])); more != nil {
					example, invented = more, made
					shown = append(shown, place[:end])
					break
				}
			}
		}
	}
	if example != nil {
		b.WriteString(ExampleText(example, invented))
		b.WriteByte('\n')
	}
}

// maxPlaces is the number of places of faults that are tried one by one.
const maxPlaces = 5

// faultyPlaces returns the places that faults are about as the tokens of their pointers, and those inside the body of arguments that stand beside
// it.
func (o *Operation) faultyPlaces(faults []Fault) (places [][]string) {
	for _, f := range faults {
		place := jsonscan.Tokens(f.Pointer)
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

// smallest returns arguments with which a call is sent: what is required, and what the options ask for, and which of them are invented. It is
// nil when none are found.
func (o *Operation) smallest(options schema.ExampleOptions, accepts func(args []byte) bool) (example []byte, invented []string) {
	v, err := o.validator()
	if err != nil {
		return nil, nil
	}
	options.MaxBytes, options.Invented = maxExample, &invented
	example, ok := v.Example(options)
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
