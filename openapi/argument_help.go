package openapi

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/schema"
)

// A model is told the arguments of an operation after a call with wrong ones. The text is read from the published
// schema, so that it can't differ from it; the cost is paid only by wrong calls.

const (
	// maxListed is where lists in messages to a model are cut: it has the schema, this is a reminder.
	maxListed = 30
	// maxExample is the longest example in bytes.
	maxExample = 600
	// maxNested is how deep examples, compositions and references are followed.
	maxNested = 5
)

// A published is a schema that may refer to others in the same text.
type published struct {
	root   []byte // Operation.Input
	schema []byte
}

// follow returns the schema that a reference into $defs leads to; what stands beside the reference is left aside.
func (p published) follow() published {
	for range maxNested {
		target := p.target()
		if target == nil {
			break
		}
		p.schema = target
	}
	return p
}

// target returns what the reference of a schema leads to, nil if it has none.
func (p published) target() []byte {
	ref := jsonscan.Lookup(p.schema, "$ref")
	if jsonscan.KindOf(ref) != jsonscan.String {
		return nil
	}
	name, found := strings.CutPrefix(string(jsonscan.Unquote(ref)), "#/$defs/")
	if !found {
		return nil
	}
	return jsonscan.Lookup(jsonscan.Lookup(p.root, "$defs"), name)
}

func (p published) member(key string) published {
	return published{p.root, jsonscan.Lookup(p.schema, key)}
}

// word returns the type, if it is one word.
func (p published) word() string {
	return string(jsonscan.Unquote(jsonscan.Lookup(p.schema, "type")))
}

// A declared is one declared member of an object.
type declared struct {
	name     string
	required bool
	schema   published
}

// arguments returns the members that an object schema declares, in the author's order, those of its composition with them.
// Required is only what all alternatives ask for.
func (p published) arguments() []declared {
	var all []declared
	required := make(map[string]bool)
	type visited struct {
		schema *byte
		always bool
	}
	seen := make(map[visited]bool)
	var visit func(p published, always bool, depth int)
	visit = func(p published, always bool, depth int) {
		if len(p.schema) == 0 || depth > maxNested || seen[visited{&p.schema[0], always}] {
			return
		}
		seen[visited{&p.schema[0], always}] = true
		visit(published{p.root, p.target()}, always, depth+1)
		for name, s := range jsonscan.Members(p.member("properties").schema) {
			if !slices.ContainsFunc(all, func(d declared) bool { return d.name == string(name) }) {
				all = append(all, declared{name: string(name), schema: published{p.root, s}})
			}
		}
		if always {
			for name := range jsonscan.Elements(p.member("required").schema) {
				required[string(jsonscan.Unquote(name))] = true
			}
		}
		for _, key := range []string{"allOf", "anyOf", "oneOf"} {
			for part := range jsonscan.Elements(p.member(key).schema) {
				visit(published{p.root, part}, always && key == "allOf", depth+1)
			}
		}
	}
	visit(p, true, 0)
	for i := range all {
		all[i].required = required[all[i].name]
	}
	return all
}

// appendArguments appends what the operation takes, and an example: first what the faults are about, then what is
// required.
func (o *Operation) appendArguments(b *strings.Builder, faults []Fault) {
	input := published{o.Input, o.Input}
	all := input.arguments()
	if len(all) == 0 {
		if string(input.member("additionalProperties").schema) == "false" {
			b.WriteString("It takes no arguments.\n")
		}
		return
	}
	faulty := o.faultyArguments(faults)
	rank := func(d declared) int {
		switch {
		case len(all) > maxListed && slices.Contains(faulty, d.name):
			return 0 // it must not be cut off
		case d.required:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(all, func(a, b declared) int { return rank(a) - rank(b) })
	required := slices.ContainsFunc(all, func(d declared) bool { return d.required })
	b.WriteString("It takes: ")
	for i, d := range all[:min(len(all), maxListed)] {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(d.name + " (" + d.schema.phrase())
		if d.required {
			b.WriteString(", required")
		}
		b.WriteByte(')')
	}
	if len(all) > maxListed {
		b.WriteString(", …")
	}
	b.WriteString(".\n")
	if example, invented := o.smallest(!required, faulty); example != nil {
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

// bodyArgument returns the name of the argument that is the whole body, "" if there is none.
func (o *Operation) bodyArgument() string {
	if o.body == nil || o.body.form != formWhole {
		return ""
	}
	return o.arguments[o.body.first].name
}

// insideBody ends what is said of an argument that stands beside the body it belongs to.
func insideBody(body string) string { return fmt.Sprintf("it belongs inside %q", body) }

// smallest returns arguments with which a call is sent: what is required, and also what is named, or, where nothing is
// required, what the document gives examples of, and which of them are invented. It is nil when none are found.
func (o *Operation) smallest(optional bool, also []string) (example []byte, invented []string) {
	v, err := o.validator()
	if err != nil {
		return nil, nil
	}
	example, ok := v.Example(schema.ExampleOptions{MaxBytes: maxExample, Documented: optional, Also: also, Invented: &invented})
	if !ok || string(example) == "{}" || !o.accepts(example) {
		return nil, nil
	}
	return example, invented
}

// accepts tells whether a call with these arguments is sent.
func (o *Operation) accepts(args []byte) bool {
	if o.hidden != nil { // what is hidden is missing in the request
		_, _, err := o.Check(args)
		return err == nil
	}
	_, err := o.NewRequest(context.Background(), &url.URL{Scheme: "https", Host: "example"}, args)
	return err == nil
}

// phrase returns "string", "array of integer", "one of \"a\", \"b\"" …
func (p published) phrase() string {
	p = p.follow()
	if enum := p.member("enum").schema; enum != nil && len(enum) <= 120 {
		var values []string
		for v := range jsonscan.Elements(enum) {
			values = append(values, string(v))
		}
		return "one of " + strings.Join(values, ", ")
	}
	switch t := p.member("type").schema; jsonscan.KindOf(t) {
	case jsonscan.String:
		name := p.word()
		if items := p.member("items").types(0); name == "array" && len(items) > 0 {
			return "array of " + strings.Join(items, " or ")
		}
		return name
	case jsonscan.Array:
		var names []string
		for v := range jsonscan.Elements(t) {
			names = append(names, string(jsonscan.Unquote(v)))
		}
		return strings.Join(names, " or ")
	default:
		return p.alternatives()
	}
}

// alternatives names the types of a schema that has none itself: "object or array".
func (p published) alternatives() string {
	if names := p.types(0); len(names) > 0 {
		return strings.Join(names, " or ")
	}
	return "see the schema"
}

// types returns the types that a schema and what it is composed of take, none if that is not plain.
func (p published) types(depth int) (names []string) {
	p = p.follow()
	switch t := p.member("type").schema; {
	case depth > maxNested:
		return nil
	case jsonscan.KindOf(t) == jsonscan.String:
		return []string{p.word()}
	case jsonscan.KindOf(t) == jsonscan.Array:
		for v := range jsonscan.Elements(t) {
			names = append(names, string(jsonscan.Unquote(v)))
		}
		return names
	}
	for part := range jsonscan.Elements(p.member("allOf").schema) {
		if names = (published{p.root, part}).types(depth + 1); names != nil {
			return names // the others can only take some of them away
		}
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		for part := range jsonscan.Elements(p.member(key).schema) {
			more := published{p.root, part}.types(depth + 1)
			if more == nil {
				return nil
			}
			for _, name := range more {
				if !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
		}
	}
	return names
}

// misplaced words an argument that is unknown where it stands and known elsewhere: a member of the body that was given
// beside it, or a body whose members stand beside the parameters. It returns "" for any other.
func (o *Operation) misplaced(name string) string {
	if o.body == nil {
		return ""
	}
	knows := func(p published) bool {
		return slices.ContainsFunc(p.arguments(), func(d declared) bool { return d.name == name })
	}
	input := published{o.Input, o.Input}
	switch {
	case knows(input):
		return ""
	case o.body.form == formWhole:
		if body := o.bodyArgument(); knows(input.member("properties").member(body)) {
			return fmt.Sprintf("unknown argument %q; %s", name, insideBody(body))
		}
	case name == "body" && o.body.form == formMembers:
		return `unknown argument "body"; its members stand beside the parameters`
	case name == "body":
		return `unknown argument "body"; its members are the arguments`
	}
	return ""
}
