package mcp

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// JSON-RPC error codes (JSON-RPC 2.0 section 5.1; 2026-07-28 schema).
const (
	CodeParse             = -32700 // not JSON
	CodeInvalidRequest    = -32600 // JSON, but not a request
	CodeMethodNotFound    = -32601 // unknown or not advertised
	CodeInvalidParams     = -32602 // bad params, unknown tool, bad cursor
	CodeInternal          = -32603 // our fault
	CodeHeaderMismatch    = -32020 // a header is missing or differs from the body
	CodeMissingCapability = -32021 // the client did not declare what the method needs
	CodeBadVersion        = -32022 // unsupported protocol version
)

// Error is a JSON-RPC error as the client will read it.
type Error struct {
	Code    int
	Message string
	Data    json.RawMessage // nil: no data member
	// HTTPStatus is the status to answer with; 0: the status that the request's
	// era gives to the code (mcp.md 1.8).
	HTTPStatus int
	// Header is added to the answer's header, for example WWW-Authenticate.
	Header http.Header
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// InvalidParams makes an error -32602.
func InvalidParams(format string, args ...any) *Error {
	return &Error{Code: CodeInvalidParams, Message: fmt.Sprintf(format, args...)}
}
