package openapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"strconv"
	"strings"

	"drawbridge/openapi/jsonscan"
)

// maxExpression limits the text of an expression, in bytes.
const maxExpression = 1024

// An Expression locates a value in a request or its response (OAS 3.1.1 section 4.8.20.4, "Runtime Expressions"). It is
// one expression, a text with expressions in braces, or a constant. The zero Expression is the constant null. It is
// immutable.
type Expression struct {
	constant json.RawMessage // nil if the value is joined from parts
	parts    []expressionPart
	whole    bool // parts is one expression whose value keeps its type
}

type expressionPart struct {
	text string // unchanged if in is ""
	in   string // "url", "method", "status", "request.path", "response.body", …
	name string // of a parameter or header; the pointer into a body
}

// ParseExpression parses an expression, a text with expressions in braces, or a text without any, which is a constant.
func ParseExpression(text string) (Expression, error) {
	if len(text) > maxExpression {
		return Expression{}, fmt.Errorf("is longer than %d bytes", maxExpression)
	}
	if strings.HasPrefix(text, "$") {
		part, err := parseReference(text)
		return Expression{parts: []expressionPart{part}, whole: true}, err
	}
	e := Expression{}
	for rest := text; rest != ""; {
		before, after, found := strings.Cut(rest, "{$")
		if before != "" {
			e.parts = append(e.parts, expressionPart{text: before})
		}
		if !found {
			break
		}
		inside, behind, closed := strings.Cut(after, "}")
		if !closed {
			return Expression{}, errors.New("has a { without its }")
		}
		part, err := parseReference("$" + inside)
		if err != nil {
			return Expression{}, err
		}
		e.parts, rest = append(e.parts, part), behind
	}
	if len(e.parts) == 0 || len(e.parts) == 1 && e.parts[0].in == "" {
		return Expression{constant: jsonscan.AppendString(nil, text)}, nil
	}
	return e, nil
}

// Constant returns the expression whose value is always the same JSON text.
func Constant(value json.RawMessage) Expression { return Expression{constant: value} }

// ResponseHeaders yields the names of the headers of the response that the value is made of, in canonical form.
func (e *Expression) ResponseHeaders() iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range e.parts {
			if p := &e.parts[i]; p.in == "response.header" && !yield(http.CanonicalHeaderKey(p.name)) {
				return
			}
		}
	}
}

// size returns the length of its texts in bytes.
func (e *Expression) size() int {
	n := len(e.constant)
	for i := range e.parts {
		n += len(e.parts[i].text) + len(e.parts[i].name)
	}
	return n
}

func parseReference(text string) (expressionPart, error) {
	switch text {
	case "$url", "$method":
		return expressionPart{in: text[1:]}, nil
	case "$statusCode":
		return expressionPart{in: "status"}, nil
	}
	side, source, _ := strings.Cut(strings.TrimPrefix(text, "$"), ".")
	kind, name, named := strings.Cut(source, ".")
	p := expressionPart{in: side + "." + kind, name: name}
	switch {
	case side != "request" && side != "response":
	case kind == "header" || side == "request" && (kind == "query" || kind == "path"):
		if named && name != "" {
			return p, nil
		}
	default:
		body, pointer, _ := strings.Cut(source, "#")
		if body == "body" && (pointer == "" || pointer[0] == '/') {
			return expressionPart{in: side + ".body", name: pointer}, nil
		}
	}
	return expressionPart{}, fmt.Errorf("%q is no runtime expression of OpenAPI, such as $response.body#/id or $response.header.Location", text)
}

// Request returns the part of the request that the expression refers to, if it is only that: the location of a
// parameter ("query", "path", "header", "body") and its name or pointer.
func (e Expression) Request() (in, name string, ok bool) {
	if len(e.parts) != 1 {
		return "", "", false
	}
	in, ok = strings.CutPrefix(e.parts[0].in, "request.")
	return in, e.parts[0].name, ok
}

// An Exchange is a request and its response, as input of an [Expression].
type Exchange struct {
	// Operation and Arguments are those of the call. Arguments has been checked.
	Operation *Operation
	Arguments json.RawMessage
	// Response is the response, whose body is not read; nil if there is none yet.
	Response *http.Response
	// Body is the body of the response if that is JSON, which has been scanned; otherwise nil.
	Body []byte
}

// Evaluate returns the value as JSON; false if a part of it is missing.
func (e Expression) Evaluate(x *Exchange) (json.RawMessage, bool) {
	if e.parts == nil {
		if e.constant == nil {
			return json.RawMessage("null"), true
		}
		return e.constant, true
	}
	if e.whole {
		v := e.parts[0].value(x)
		return v, v != nil
	}
	var text []byte
	for _, p := range e.parts {
		if p.in == "" {
			text = append(text, p.text...)
			continue
		}
		v := p.value(x)
		switch jsonscan.KindOf(v) {
		case jsonscan.String:
			text = append(text, jsonscan.Unquote(v)...)
		case jsonscan.Number, jsonscan.Bool:
			text = append(text, v...)
		default:
			return nil, false
		}
	}
	return jsonscan.AppendString(nil, text), true
}

// value returns the value that the part refers to, or nil.
func (p *expressionPart) value(x *Exchange) []byte {
	if side, in, _ := strings.Cut(p.in, "."); side == "request" {
		return x.Operation.given(x.Arguments, in, p.name)
	}
	if x.Response == nil {
		return nil
	}
	switch p.in {
	case "url":
		if x.Response.Request == nil {
			return nil
		}
		return jsonscan.AppendString(nil, x.Response.Request.URL.String())
	case "method":
		return jsonscan.AppendString(nil, x.Operation.Method)
	case "status":
		return strconv.AppendInt(nil, int64(x.Response.StatusCode), 10)
	case "response.header":
		if values := x.Response.Header.Values(p.name); len(values) > 0 {
			return jsonscan.AppendString(nil, strings.ToValidUTF8(values[0], "\uFFFD"))
		}
	case "response.body":
		if x.Body != nil {
			return jsonscan.At(x.Body, p.name)
		}
	}
	return nil
}

// given returns the value of a parameter, or of a part of the body, in the arguments, or nil.
func (o *Operation) given(args []byte, in, name string) []byte {
	pointer := ""
	if in == inBody.String() {
		pointer = name
	}
	argument, pointer, ok := o.ArgumentFor(in, name, pointer)
	if !ok || args == nil {
		return nil
	}
	if argument == "" {
		return jsonscan.At(args, pointer)
	}
	if value := jsonscan.Lookup(args, argument); value != nil {
		return jsonscan.At(value, pointer)
	}
	return nil
}

// ArgumentFor returns the argument that becomes a parameter; in is "path", "query" or "header". For "body" it is the
// argument that contains the value at pointer, and rest is the pointer within it. All arguments together have the name
// "". ok is false if there is no such argument.
func (o *Operation) ArgumentFor(in, name, pointer string) (argument, rest string, ok bool) {
	if in != inBody.String() {
		for _, a := range o.arguments {
			if a.place.String() == in && (a.wire == name || a.place == inHeader && strings.EqualFold(a.wire, name)) {
				return a.name, "", true
			}
		}
		return "", "", false
	}
	if o.body == nil {
		return "", "", false
	}
	if o.body.form == formWhole {
		return o.arguments[o.body.first].name, pointer, true
	}
	if pointer == "" {
		return "", "", o.body.form == formRoot && o.body.rename == nil
	}
	token, rest := jsonscan.CutToken(pointer)
	if o.body.form == formRoot {
		if renamed, ok := o.body.renamed[token]; ok {
			return renamed, rest, true
		}
		return token, rest, true
	}
	for _, a := range o.arguments {
		if a.place == inMember && a.wire == token {
			return a.name, rest, true
		}
	}
	return "", "", false
}
