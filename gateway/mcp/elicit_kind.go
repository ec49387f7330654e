package mcp

import (
	"encoding/base64"
	"encoding/json"

	"drawbridge/openapi/jsonscan"
)

// InputKind is the kind of an input request.
type InputKind uint8

// The kinds of input requests. Sampling and roots are deprecated as of 2026-07-28 (SEP-2577) and serve clients that
// support nothing else.
const (
	ElicitForm InputKind = iota + 1 // elicitation in form mode
	ElicitURL                       // elicitation in URL mode
	Sample                          // a message of the client's model
	Roots                           // the client's root directories
)

// Requires returns the capability that the client must have declared.
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

// method returns the JSON-RPC method of the input request.
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

// InputRequest is a request for input from the client or its user.
type InputRequest struct {
	// Key identifies the input request within the call, over all rounds.
	Key  string
	Kind InputKind
	// Params holds the members of the request's params, JSON text without braces:
	// `"message":"...","requestedSchema":{...}`. It is not checked. Secrets must never be requested in a form (mcp-E6).
	Params []byte
}

// append appends the request object, without an id.
func (req *InputRequest) append(dst []byte) []byte {
	dst = append(append(dst, `{"method":"`...), req.Kind.method()...)
	dst = append(dst, `","params":{`...)
	return append(append(dst, req.Params...), "}}"...)
}

// Digest returns a digest of the input request's content.
func (req *InputRequest) Digest() string {
	sum := jsonDigest(req.append(nil))
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}

// appendInputRequests appends an InputRequests object.
func appendInputRequests(dst []byte, requests []InputRequest) []byte {
	dst = append(dst, '{')
	for i := range requests {
		dst = append(jsonscan.AppendString(dst, requests[i].Key), ':')
		dst = append(requests[i].append(dst), ',')
	}
	return append(trimComma(dst), '}')
}

// RequireCapabilities returns the error for a client that has not declared the capabilities that are wanted, nil if it has.
// Legacy clients don't support tasks, whatever they declare.
func RequireCapabilities(of RevisionFamily, have, want ClientCapabilities) error {
	if of != Stateless {
		have &^= ClientTasks
	}
	if lacks := want &^ have; lacks != 0 {
		return missingCapability(lacks)
	}
	return nil
}

// missingCapability returns the error for capabilities that the client has not declared (mcp-M2).
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
