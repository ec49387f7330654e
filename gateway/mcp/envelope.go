package mcp

import (
	"bytes"
	"encoding/json"
	"errors"

	"drawbridge/openapi/jsonscan"
)

// maxID limits a request's id in bytes; ids are echoed, stored and logged.
const maxID = 1024

// envelope is one JSON-RPC message, split into its members but not decoded. Every field is a slice of the body, nil if
// the member is absent.
type envelope struct {
	id     json.RawMessage // string or integer
	method json.RawMessage // string, with its quotes
	params json.RawMessage // object

	message    json.RawMessage // the whole message
	isResponse bool            // a well-formed response

	name, uri, taskID json.RawMessage // members of params that headers mirror
	arguments, cursor json.RawMessage // members of params
	meta              json.RawMessage // params._meta, an object

	metaVersion      json.RawMessage // members of params._meta
	metaCapabilities json.RawMessage
	metaClientInfo   json.RawMessage
	metaLogLevel     json.RawMessage
	progressToken    json.RawMessage
	traceParent      json.RawMessage
	traceState       json.RawMessage
	baggage          json.RawMessage
}

// Keys of params._meta (2026-07-28 basic, _meta).
const (
	keyProtocolVersion    = "io.modelcontextprotocol/protocolVersion"
	keyClientCapabilities = "io.modelcontextprotocol/clientCapabilities"
	keyClientInfo         = "io.modelcontextprotocol/clientInfo"
	keyLogLevel           = "io.modelcontextprotocol/logLevel"
	keyServerInfo         = "io.modelcontextprotocol/serverInfo"
)

// parseMessage checks body in one pass and splits it. If there is an error, the envelope still holds the id if that is
// valid.
func parseMessage(body []byte, maxDepth int) (e envelope, fault *Error) {
	info, err := jsonscan.Scan(body, jsonscan.Options{MaxDepth: maxDepth, Unique: true})
	if err != nil {
		return e, scanError(err)
	}
	if info.Kind == jsonscan.Array { // see exchange.batch
		return e, invalidRequest("a batch is not accepted: send each message in a POST of its own")
	}
	return parseScanned(body)
}

// isBatch reports whether a body is a JSON array.
func isBatch(body []byte) bool {
	return jsonscan.KindOf(bytes.TrimLeft(body, " \t\r\n")) == jsonscan.Array
}

// parseScanned splits a message that has been scanned before.
func parseScanned(body []byte) (e envelope, fault *Error) {
	if kind := jsonscan.KindOf(body); kind != jsonscan.Object {
		return e, invalidRequest("a message is an object, got %s", kindName(kind))
	}
	e.message = body
	var version []byte
	response, badID := false, false
	for name, value := range jsonscan.Members(body) {
		switch string(name) {
		case "jsonrpc":
			version = value
		case "id":
			if validID(value) {
				e.id = value
			} else {
				badID = true
			}
		case "method":
			e.method = value
		case "params":
			e.params = value
		case "result", "error":
			response = true
		}
	}
	switch {
	case badID:
		return e, invalidRequest("an id is a string or an integer of at most %d bytes, and never null", maxID)
	case string(version) != `"2.0"`:
		return e, invalidRequest(`member "jsonrpc" must be "2.0"`)
	case e.method == nil && response:
		e.isResponse = e.id != nil
		return e, invalidRequest("a response is not expected here: this server sends no requests")
	case len(e.method) <= len(`""`) || e.method[0] != '"':
		return e, invalidRequest(`member "method" must be a string that is not empty`)
	}
	return e, e.parseParams()
}

func (e *envelope) parseParams() *Error {
	switch objectKind(e.params) {
	case jsonscan.Object:
	case jsonscan.Null: // from clients whose language has no absent members
		e.params = nil
		return nil
	case 0:
		return nil
	default:
		return InvalidParams("params must be an object")
	}
	for name, value := range jsonscan.Members(e.params) {
		switch string(name) {
		case "name":
			e.name = value
		case "uri":
			e.uri = value
		case "taskId":
			e.taskID = value
		case "arguments":
			e.arguments = value
		case "cursor":
			e.cursor = value
		case "_meta":
			e.meta = value
		}
	}
	switch objectKind(e.meta) {
	case jsonscan.Object:
	case jsonscan.Null:
		e.meta = nil
		return nil
	case 0:
		return nil
	default:
		return InvalidParams("params._meta must be an object")
	}
	for name, value := range jsonscan.Members(e.meta) {
		switch string(name) {
		case keyProtocolVersion:
			e.metaVersion = value
		case keyClientCapabilities:
			e.metaCapabilities = value
		case keyClientInfo:
			e.metaClientInfo = value
		case keyLogLevel:
			e.metaLogLevel = value
		case "progressToken":
			e.progressToken = value
		case "traceparent":
			e.traceParent = value
		case "tracestate":
			e.traceState = value
		case "baggage":
			e.baggage = value
		}
	}
	return nil
}

// validID reports whether a value may be a request's id: "a string or integer", not null (2026-07-28 basic, Requests).
// Numbers are never decoded, so that the response has the id of the request to the last digit (mcp-T18); 1.0 and 1e3
// are therefore refused.
func validID(value []byte) bool {
	if len(value) > maxID {
		return false
	}
	switch jsonscan.KindOf(value) {
	case jsonscan.String:
		return true
	case jsonscan.Number:
		for _, c := range value {
			if c == '.' || c == 'e' || c == 'E' {
				return false
			}
		}
		return true
	default:
		return false
	}
}

// scanError returns the error for a body that the scanner has refused. Only violations of grammar and encoding are
// parse errors; the others are JSON but no acceptable request.
func scanError(err error) *Error {
	var se *jsonscan.Error
	if !errors.As(err, &se) {
		return &Error{Code: CodeParse, Message: "the body is not JSON"}
	}
	code := CodeParse
	if se.Reason == jsonscan.TooDeep || se.Reason == jsonscan.Duplicate {
		code = CodeInvalidRequest
	}
	return &Error{Code: code, Message: se.Error()}
}

// decodeString decodes a JSON string; ok is false if value is of another kind or absent.
func decodeString(value []byte) (s string, ok bool) {
	if jsonscan.KindOf(value) != jsonscan.String {
		return "", false
	}
	return string(jsonscan.Unquote(value)), true
}

// kindName returns the name of a kind with its article.
func kindName(k jsonscan.Kind) string {
	switch k {
	case jsonscan.Null:
		return "null"
	case jsonscan.Array:
		return "an array"
	case jsonscan.Object:
		return "an object"
	default:
		return "a " + k.String()
	}
}

// knownNotification returns the name of a notification that clients of some revision send, "" for any other.
func knownNotification(method []byte) string {
	for _, name := range [...]string{
		"notifications/initialized", "notifications/cancelled", "notifications/progress", "notifications/roots/list_changed",
	} {
		if string(jsonscan.Unquote(method)) == name {
			return name
		}
	}
	return ""
}

// admissionName returns the name by which [Options].Admit knows a message without a response.
func (e *envelope) admissionName() string {
	if e.isResponse {
		return "response"
	}
	return knownNotification(e.method)
}
