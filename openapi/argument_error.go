package openapi

import (
	"encoding/json"
	"slices"
	"strings"

	"drawbridge/openapi/jsonscan"
)

// ArgumentError tells all that is wrong with the arguments of a call. Its ToolMessage is meant for the model that
// chose them (D7).
type ArgumentError struct {
	Faults []Fault // at least one

	operation *Operation
}

// A Fault is one thing that is wrong with the arguments.
type Fault struct {
	Pointer string // RFC 6901 pointer into the arguments, "" for the arguments as a whole
	Message string // "expected integer, got string \"x\""
}

// Error implements error: the faults on one line.
func (e *ArgumentError) Error() string {
	var b strings.Builder
	b.WriteString("arguments: ")
	for i, f := range e.Faults {
		if i > 0 {
			b.WriteString("; ")
		}
		f.append(&b)
	}
	return b.String()
}

func (f Fault) append(b *strings.Builder) {
	if f.Pointer != "" {
		b.WriteString(f.Pointer)
		b.WriteString(": ")
	}
	b.WriteString(f.Message)
}

// ToolMessage returns the text for the model: every fault with its JSON pointer, then the arguments that the operation
// takes.
func (e *ArgumentError) ToolMessage() string {
	var b strings.Builder
	b.WriteString("The arguments are not valid; nothing was sent. Correct them and call again.\n")
	for _, f := range e.Faults {
		b.WriteString("- ")
		f.append(&b)
		b.WriteByte('\n')
	}
	if e.operation != nil {
		e.operation.appendArguments(&b)
	}
	return b.String()
}

// Lists in messages to a model are cut here: it has the schema, this is a reminder.
const maxListed = 30

// appendArguments appends what the operation takes, required arguments first, and a smallest example. It reads the
// published schema, so that the text can't differ from it; the cost is paid only by wrong calls.
func (o *Operation) appendArguments(b *strings.Builder) {
	properties := jsonscan.Lookup(o.Input, "properties")
	var required []string
	for name := range jsonscan.Elements(jsonscan.Lookup(o.Input, "required")) {
		required = append(required, string(jsonscan.Unquote(name)))
	}
	var first, rest []string
	for name, s := range jsonscan.Members(properties) {
		text := string(name) + " (" + typePhrase(s)
		if slices.Contains(required, string(name)) {
			first = append(first, text+", required)")
		} else {
			rest = append(rest, text+")")
		}
	}
	all := append(first, rest...)
	if len(all) == 0 {
		if string(jsonscan.Lookup(o.Input, "additionalProperties")) == "false" {
			b.WriteString("It takes no arguments.\n")
		}
		return
	}
	b.WriteString("It takes: ")
	b.WriteString(strings.Join(all[:min(len(all), maxListed)], ", "))
	if len(all) > maxListed {
		b.WriteString(", …")
	}
	b.WriteString(".\n")
	if len(first) == 0 || len(first) > maxListed {
		return
	}
	example := []byte("Example: {")
	for name, s := range jsonscan.Members(properties) {
		if !slices.Contains(required, string(name)) {
			continue
		}
		value := exampleOf(s)
		if value == nil {
			return
		}
		if example[len(example)-1] != '{' {
			example = append(example, ',')
		}
		example = jsonscan.AppendString(example, name)
		example = append(example, ':')
		example = append(example, value...)
	}
	b.Write(example)
	b.WriteString("}\n")
}

// typePhrase returns "string", "array of integer", "one of \"a\", \"b\"" …
func typePhrase(s []byte) string {
	if enum := jsonscan.Lookup(s, "enum"); enum != nil && len(enum) <= 120 {
		var values []string
		for v := range jsonscan.Elements(enum) {
			values = append(values, string(v))
		}
		return "one of " + strings.Join(values, ", ")
	}
	switch t := jsonscan.Lookup(s, "type"); jsonscan.KindOf(t) {
	case jsonscan.String:
		name := string(jsonscan.Unquote(t))
		if name == "array" {
			if items := jsonscan.Lookup(jsonscan.Lookup(s, "items"), "type"); jsonscan.KindOf(items) == jsonscan.String {
				return "array of " + string(jsonscan.Unquote(items))
			}
		}
		return name
	case jsonscan.Array:
		var names []string
		for v := range jsonscan.Elements(t) {
			names = append(names, string(jsonscan.Unquote(v)))
		}
		return strings.Join(names, " or ")
	default:
		return "see the schema"
	}
}

// exampleOf returns a value that shows the form of an argument, nil when that takes more than its type.
func exampleOf(s []byte) []byte {
	for _, key := range []string{"const", "default"} {
		if v := jsonscan.Lookup(s, key); v != nil {
			return v
		}
	}
	for _, key := range []string{"examples", "enum"} {
		for v := range jsonscan.Elements(jsonscan.Lookup(s, key)) {
			return v
		}
	}
	switch string(jsonscan.Unquote(jsonscan.Lookup(s, "type"))) {
	case "string":
		switch string(jsonscan.Unquote(jsonscan.Lookup(s, "format"))) {
		case "":
			return json.RawMessage(`"text"`)
		case "date":
			return json.RawMessage(`"2026-01-31"`)
		case "date-time":
			return json.RawMessage(`"2026-01-31T12:00:00Z"`)
		case "uuid":
			return json.RawMessage(`"00000000-0000-4000-8000-000000000000"`)
		}
	case "integer", "number":
		if v := jsonscan.Lookup(s, "minimum"); v != nil {
			return v
		}
		return json.RawMessage(`1`)
	case "boolean":
		return json.RawMessage(`true`)
	}
	return nil
}

// BaseError says that a call can't be made because it is not known where to.
type BaseError struct {
	Problem string // for the operator: what to configure
}

// Error implements error.
func (e *BaseError) Error() string { return e.Problem }

// ToolMessage returns the text for the model, which holds none of the document's addresses (P7).
func (e *BaseError) ToolMessage() string {
	return "This operation can't be called yet: the operator of the gateway has to set base_url for its API."
}
