package mcp

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"drawbridge/openapi/jsonscan"
)

// JSON-RPC error codes (JSON-RPC 2.0 section 5.1; 2026-07-28 basic, Error Codes).
const (
	CodeParse             = -32700 // not JSON
	CodeInvalidRequest    = -32600 // JSON, but not a request
	CodeMethodNotFound    = -32601 // unknown or not advertised
	CodeInvalidParams     = -32602 // bad params, unknown tool, bad cursor
	CodeInternal          = -32603 // our fault
	CodeHeaderMismatch    = -32020 // a header is missing or differs from the body
	CodeMissingCapability = -32021 // the client did not declare what the method needs
	CodeBadVersion        = -32022 // unsupported protocol version

	// CodeResourceNotFound is of the legacy era; see [Request.ResourceNotFound].
	CodeResourceNotFound = -32002

	// CodeCancelled answers a call that its client has cancelled and therefore does
	// not wait for. No revision defines a code for it; this one is outside the range
	// that JSON-RPC and MCP reserve.
	CodeCancelled = -32800
)

// Error is a JSON-RPC error as the client will read it.
type Error struct {
	Code    int
	Message string
	Data    json.RawMessage // nil: no data member
	// HTTPStatus is the status to answer with; 0: the status that the request's
	// era gives to the code.
	HTTPStatus int
	// Header is added to the answer's header, for example WWW-Authenticate.
	Header http.Header
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// append appends the error object.
func (e *Error) append(dst []byte) []byte {
	dst = strconv.AppendInt(append(dst, `{"code":`...), int64(e.Code), 10)
	dst = jsonscan.AppendString(append(dst, `,"message":`...), strings.ToValidUTF8(e.Message, "\uFFFD"))
	if len(e.Data) > 0 {
		dst = append(append(dst, `,"data":`...), e.Data...)
	}
	return append(dst, '}')
}

// InvalidParams makes an error -32602.
func InvalidParams(format string, args ...any) *Error {
	return &Error{Code: CodeInvalidParams, Message: fmt.Sprintf(format, args...)}
}

func invalidRequest(format string, args ...any) *Error {
	return &Error{Code: CodeInvalidRequest, Message: fmt.Sprintf(format, args...)}
}

// refusal is an invalid request that HTTP has a word for.
func httpError(status int, format string, args ...any) *Error {
	e := invalidRequest(format, args...)
	e.HTTPStatus = status
	return e
}

func headerMismatch(format string, args ...any) *Error {
	return &Error{Code: CodeHeaderMismatch, Message: fmt.Sprintf(format, args...)}
}

// status returns the HTTP status of an error. In the modern era the code decides
// (2026-07-28 streamable-http). In the legacy era an error that answers a
// well-formed request is an ordinary answer; 400 is for what is not one, and for
// versions. An unknown era means that the request was not understood so far.
func (e *Error) status(era RevisionFamily) int {
	if e.HTTPStatus != 0 {
		return e.HTTPStatus
	}
	switch e.Code {
	case CodeParse, CodeInvalidRequest, CodeBadVersion:
		return http.StatusBadRequest
	case CodeInvalidParams, CodeHeaderMismatch, CodeMissingCapability:
		if era != Legacy {
			return http.StatusBadRequest
		}
	case CodeMethodNotFound:
		if era == Stateless {
			return http.StatusNotFound
		}
	}
	return http.StatusOK
}
