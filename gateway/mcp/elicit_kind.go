package mcp

import (
	"encoding/json"

	"drawbridge/openapi/jsonscan"
)

// Kind is what a question asks of the client.
type InputKind uint8

// The kinds of questions. Sampling and roots are deprecated as of 2026-07-28
// (SEP-2577): they are here for clients that have nothing else.
const (
	ElicitForm InputKind = iota + 1 // a form for the user
	ElicitURL                       // a page for the user
	Sample                          // something for the client's model to say
	Roots                           // the client's directories
)

// Needs returns the capability that a client must have declared to be asked.
func (k InputKind) Requires() ClientCapabilities {
	switch k {
	case ElicitForm:
		return ClientElicitation
	case ElicitURL:
		return ClientElicitationURL
	case Sample:
		return ClientSampling
	case Roots:
		return ClientRoots
	}
	return 0
}

// method returns the request that asks.
func (k InputKind) method() string {
	switch k {
	case Sample:
		return "sampling/createMessage"
	case Roots:
		return "roots/list"
	case ElicitForm, ElicitURL:
	}
	return "elicitation/create"
}

// Question is something that the server has to know from the client.
type InputRequest struct {
	// Key names the question among all that one call asks, over all its rounds.
	Key  string
	Kind InputKind
	// Params holds the members of the request's params, JSON text without braces:
	// `"message":"...","requestedSchema":{...}`. It is not checked. What is a secret is
	// never asked for in a form (mcp-E6).
	Params []byte
}

// appendQuestion appends a request object without id.
func (req *InputRequest) append(dst []byte) []byte {
	dst = append(append(dst, `{"method":"`...), req.Kind.method()...)
	dst = append(dst, `","params":{`...)
	return append(append(dst, req.Params...), "}}"...)
}

// appendQuestions appends an InputRequests object.
func appendInputRequests(dst []byte, questions []InputRequest) []byte {
	dst = append(dst, '{')
	for i := range questions {
		dst = append(jsonscan.AppendString(dst, questions[i].Key), ':')
		dst = append(questions[i].append(dst), ',')
	}
	return append(trimComma(dst), '}')
}

// Require returns the error to refuse a request with whose client has not declared what it takes, nil if it has. Legacy
// clients have no tasks, whatever they declare.
func (r *Request) RequireCapabilities(want ClientCapabilities) error {
	have := r.Client
	if r.Family != Stateless {
		have &^= ClientTasks
	}
	if lacks := want &^ have; lacks != 0 {
		return missingCapability(lacks)
	}
	return nil
}

// missing is the error for capabilities that the client has not declared (mcp-M2).
func missingCapability(want ClientCapabilities) *Error {
	need := make(map[string]any)
	elicitation := make(map[string]any)
	if want.Has(ClientElicitation) {
		elicitation["form"], need["elicitation"] = struct{}{}, elicitation
	}
	if want.Has(ClientElicitationURL) {
		elicitation["url"], need["elicitation"] = struct{}{}, elicitation
	}
	if want.Has(ClientSampling) {
		need["sampling"] = struct{}{}
	}
	if want.Has(ClientRoots) {
		need["roots"] = struct{}{}
	}
	if want.Has(ClientTasks) {
		need["extensions"] = map[string]any{extensionTasks: struct{}{}}
	}
	data, err := json.Marshal(map[string]any{"requiredCapabilities": need})
	if err != nil { // names and empty objects marshal
		data = nil
	}
	return &Error{Code: CodeMissingCapability, Message: "the client has not declared a capability that is needed here", Data: data}
}
