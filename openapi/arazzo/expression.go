package arazzo

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"drawbridge/openapi/jsonscan"
)

// maxText limits the text of an expression or condition, in bytes.
const maxText = 16 << 10

// Source is the first name of a runtime expression, without its dollar sign.
type Source string

// The sources.
const (
	URL                Source = "url"
	Method             Source = "method"
	StatusCode         Source = "statusCode"
	Request            Source = "request"
	Response           Source = "response"
	Inputs             Source = "inputs"
	Outputs            Source = "outputs"
	Steps              Source = "steps"
	Workflows          Source = "workflows"
	SourceDescriptions Source = "sourceDescriptions"
	Components         Source = "components"
	Self               Source = "self"
)

// Expression is a runtime expression (Arazzo 1.1.0, "Runtime Expressions").
type Expression struct {
	Source Source
	// ID is that of a step, workflow or source description; "" for other sources.
	ID string
	// Field is the part of the source: "header", "query", "path" or "body" of a request or response, "inputs" or "outputs" of a workflow or
	// step, or the type of a component.
	Field string
	// Name is that of the header, parameter, input, output or component. It may be followed by a path of members and indexes, see [Expression.Bind].
	Name string
	// Pointer is a JSON Pointer (RFC 6901) into the value; "" for the whole of it.
	Pointer string
}

// Scope has the values that expressions refer to. Value returns the value without regard to [Expression].Pointer; false if there is none. The
// name of an input or output may have a path behind it: [Expression.Bind] separates them.
type Scope interface {
	Value(e Expression) (json.RawMessage, bool)
}

// Evaluate returns the value of the expression; false if there is none.
func (e Expression) Evaluate(s Scope) (json.RawMessage, bool) {
	value, ok := s.Value(e)
	if !ok || e.Pointer == "" {
		return value, ok
	}
	value = jsonscan.At(value, e.Pointer)
	return value, value != nil
}

// ParseExpression parses a runtime expression, such as $response.body#/id.
func ParseExpression(text string) (Expression, error) {
	if len(text) > maxText {
		return Expression{}, fmt.Errorf("the expression has %d bytes; at most %d are allowed", len(text), maxText)
	}
	name, isExpression := strings.CutPrefix(text, "$")
	if !isExpression {
		return Expression{}, fmt.Errorf("%q is not a runtime expression, which begins with $", text)
	}
	source, rest, dotted := strings.Cut(name, ".")
	e := Expression{Source: Source(source)}
	switch e.Source {
	case URL, Method, StatusCode, Self:
		if dotted {
			return Expression{}, fmt.Errorf("$%s has no parts, found %q", source, text)
		}
		return e, nil
	case Request, Response:
		return e.message(text, rest)
	case Inputs, Outputs:
		return e.named(text, rest)
	case Steps, Workflows:
		e.ID, rest, _ = strings.Cut(rest, ".")
		e.Field, rest, _ = strings.Cut(rest, ".")
		if !isIdentifier(e.ID, "") || e.Field != "outputs" && (e.Source == Steps || e.Field != "inputs") {
			return Expression{}, fmt.Errorf("%q is not of the form $%s.ID.outputs.NAME", text, source)
		}
		return e.named(text, rest)
	case Components:
		e.Field, e.Name, _ = strings.Cut(rest, ".")
		if !slices.Contains([]string{"inputs", "parameters", "successActions", "failureActions"}, e.Field) || !isIdentifier(e.Name, ".") {
			return Expression{}, fmt.Errorf("%q is not of the form $components.TYPE.NAME, where TYPE is inputs, parameters, successActions or failureActions", text)
		}
		return e, nil
	case SourceDescriptions:
		if e.ID, e.Name, _ = strings.Cut(rest, "."); !isIdentifier(e.ID, "") || e.Name == "" {
			return Expression{}, fmt.Errorf("%q is not of the form $sourceDescriptions.NAME.ID", text)
		}
		return e, nil
	}
	if source == "message" {
		return Expression{}, fmt.Errorf("%q refers to a message of AsyncAPI, which is not supported", text)
	}
	return Expression{}, fmt.Errorf("%q is not a runtime expression: $%s is unknown; known are $url, $method, $statusCode, $request, $response, $inputs, $outputs, "+
		"$steps, $workflows, $sourceDescriptions, $components and $self", text, source)
}

// message parses a part of a request or response.
func (e Expression) message(text, rest string) (Expression, error) {
	if body, ok := strings.CutPrefix(rest, "body"); ok && (body == "" || strings.ContainsRune("#.[", rune(body[0]))) {
		e.Field = "body"
		var err error
		if pointer, ok := strings.CutPrefix(body, "#"); ok {
			e.Pointer, err = checkPointer(pointer)
		} else {
			e.Pointer, err = pathPointer(body)
		}
		if err != nil {
			return Expression{}, fmt.Errorf("%q: %w", text, err)
		}
		return e, nil
	}
	e.Field, e.Name, _ = strings.Cut(rest, ".")
	known := e.Field == "header" || e.Source == Request && (e.Field == "query" || e.Field == "path")
	if !known || e.Name == "" {
		return Expression{}, fmt.Errorf("%q is not a part of a %s, such as $%[2]s.body#/id or $%[2]s.header.Location", text, e.Source)
	}
	return e, nil
}

// named parses a name with an optional JSON Pointer.
func (e Expression) named(text, rest string) (Expression, error) {
	name, pointer, _ := strings.Cut(rest, "#")
	end := strings.IndexByte(name, '[')
	if end < 0 {
		end = len(name)
	}
	if !isIdentifier(name[:end], ".") {
		return Expression{}, fmt.Errorf("%q has no valid name, which is made of letters, digits, '.', '-' and '_'", text)
	}
	if _, err := pathPointer(name[end:]); err != nil {
		return Expression{}, fmt.Errorf("%q: %w", text, err)
	}
	e.Name = name
	var err error
	if e.Pointer, err = checkPointer(pointer); err != nil {
		return Expression{}, fmt.Errorf("%q: %w", text, err)
	}
	return e, nil
}

// Bind separates the name of the expression from the path of members and indexes that authors append to it, as in
// $steps.a.outputs.pet.tags[0]: the longest name that is declared remains, and the path goes into the pointer. It returns false if no such
// name is declared.
func (e Expression) Bind(isDeclared func(name string) bool) (Expression, bool) {
	for end := len(e.Name); end > 0; end = strings.LastIndexAny(e.Name[:end], ".[") {
		if !isDeclared(e.Name[:end]) {
			continue
		}
		path, err := pathPointer(e.Name[end:])
		if err != nil {
			return e, false
		}
		e.Name, e.Pointer = e.Name[:end], path+e.Pointer
		return e, true
	}
	return e, false
}

// isIdentifier reports whether a text is made of letters, digits, '-', '_' and the further characters, and is not empty.
func isIdentifier(text, further string) bool {
	for i := range len(text) {
		c := text[i]
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_' || strings.IndexByte(further, c) >= 0) {
			return false
		}
	}
	return text != ""
}

// checkPointer returns a JSON Pointer if it is one (RFC 6901 section 3).
func checkPointer(pointer string) (string, error) {
	if pointer != "" && pointer[0] != '/' {
		return "", fmt.Errorf("the JSON Pointer %q must begin with /", pointer)
	}
	for i := range len(pointer) {
		if pointer[i] == '~' && (i+1 == len(pointer) || pointer[i+1] != '0' && pointer[i+1] != '1') {
			return "", fmt.Errorf("the JSON Pointer %q has ~ without 0 or 1", pointer)
		}
	}
	return pointer, nil
}

// pathPointer returns the JSON Pointer of a path such as .items[0].id.
func pathPointer(path string) (string, error) {
	var b strings.Builder
	for rest := path; rest != ""; {
		b.WriteByte('/')
		if index, ok := strings.CutPrefix(rest, "["); ok {
			number, after, closed := strings.Cut(index, "]")
			if !closed || number == "" || strings.Trim(number, "0123456789") != "" || len(number) > 1 && number[0] == '0' {
				return "", fmt.Errorf("the path %q must have a number in brackets, such as [0]; several values are selected by a Selector Object", path)
			}
			b.WriteString(number)
			rest = after
			continue
		}
		end := strings.IndexAny(rest[1:], ".[") + 1
		if end == 0 {
			end = len(rest)
		}
		if rest[0] != '.' || end == 1 {
			return "", fmt.Errorf("the path %q must have a name after each dot", path)
		}
		b.WriteString(jsonscan.EscapeToken(rest[1:end]))
		rest = rest[end:]
	}
	return b.String(), nil
}
