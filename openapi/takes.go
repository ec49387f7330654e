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

// What a model is told of the arguments of an operation, after a call that was wrong. It is read from the published
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

// follow returns the schema that a reference into $defs leads to.
func (p published) follow() published {
	for range maxNested {
		ref := jsonscan.Lookup(p.schema, "$ref")
		if jsonscan.KindOf(ref) != jsonscan.String {
			break
		}
		name, found := strings.CutPrefix(string(jsonscan.Unquote(ref)), "#/$defs/")
		if !found {
			break
		}
		target := jsonscan.Lookup(jsonscan.Lookup(p.root, "$defs"), name)
		if target == nil {
			break
		}
		p.schema = target
	}
	return p
}

func (p published) member(key string) published {
	return published{p.root, jsonscan.Lookup(p.schema, key)}
}

func (p published) text(key string) string {
	return string(jsonscan.Unquote(jsonscan.Lookup(p.schema, key)))
}

// A declared is one declared member of an object.
type declared struct {
	name     string
	required bool
	schema   published
}

// takes returns the members that an object schema declares, in the author's order, those of its composition with them.
// Required is only what all alternatives ask for.
func (p published) takes() []declared {
	var all []declared
	required := make(map[string]bool)
	type visited struct {
		schema *byte
		always bool
	}
	seen := make(map[visited]bool)
	var visit func(p published, always bool, depth int)
	visit = func(p published, always bool, depth int) {
		p = p.follow()
		if len(p.schema) == 0 || depth > maxNested || seen[visited{&p.schema[0], always}] {
			return
		}
		seen[visited{&p.schema[0], always}] = true
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

// appendArguments appends what the operation takes, required arguments first, and a smallest example.
func (o *Operation) appendArguments(b *strings.Builder) {
	input := published{o.Input, o.Input}
	all := input.takes()
	if len(all) == 0 {
		if string(input.member("additionalProperties").schema) == "false" {
			b.WriteString("It takes no arguments.\n")
		}
		return
	}
	var first, rest []string
	for _, d := range all {
		if text := d.name + " (" + d.schema.phrase(); d.required {
			first = append(first, text+", required)")
		} else {
			rest = append(rest, text+")")
		}
	}
	listed := slices.Concat(first, rest)
	b.WriteString("It takes: ")
	b.WriteString(strings.Join(listed[:min(len(listed), maxListed)], ", "))
	if len(listed) > maxListed {
		b.WriteString(", …")
	}
	b.WriteString(".\n")
	if example := o.smallest(len(first) == 0); example != nil {
		b.WriteString("Example: ")
		b.Write(example)
		b.WriteByte('\n')
	}
}

// smallest returns arguments with which a call is sent: what is required and no more, or, where nothing is, what the
// document gives examples of. It is nil when none are found.
func (o *Operation) smallest(optional bool) []byte {
	v, err := o.validator()
	if err != nil {
		return nil
	}
	example, ok := v.Example(schema.ExampleOptions{MaxBytes: maxExample, Documented: optional})
	if !ok || string(example) == "{}" || !o.accepts(example) {
		return nil
	}
	return example
}

// accepts tells whether a call with these arguments is sent.
func (o *Operation) accepts(args []byte) bool {
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
		name := p.text("type")
		if items := p.member("items").follow(); name == "array" && items.text("type") != "" {
			return "array of " + items.text("type")
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
	const unknown = "see the schema"
	var names []string
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		for part := range jsonscan.Elements(p.member(key).schema) {
			name := published{p.root, part}.follow().text("type")
			if name == "" {
				return unknown
			}
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	if len(names) == 0 {
		return unknown
	}
	return strings.Join(names, " or ")
}

// misplaced words an argument that is unknown where it stands and known elsewhere: a member of the body that was given
// beside it, or a body whose members stand beside the parameters. It returns "" for any other.
func (o *Operation) misplaced(name string) string {
	if o.body == nil {
		return ""
	}
	knows := func(p published) bool {
		return slices.ContainsFunc(p.takes(), func(d declared) bool { return d.name == name })
	}
	input := published{o.Input, o.Input}
	switch {
	case knows(input):
		return ""
	case o.body.form == formWhole:
		if body := input.member("properties").member("body"); knows(body) {
			return fmt.Sprintf("unknown argument %q; it belongs inside \"body\"", name)
		}
	case name == "body" && o.body.form == formMembers:
		return `unknown argument "body"; its members stand beside the parameters`
	case name == "body":
		return `unknown argument "body"; its members are the arguments`
	}
	return ""
}
