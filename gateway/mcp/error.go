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
	CodeParse              = -32700 // not JSON
	CodeInvalidRequest     = -32600 // JSON, but not a request
	CodeMethodNotFound     = -32601 // unknown or not advertised
	CodeInvalidParams      = -32602 // bad params, unknown tool, bad cursor
	CodeInternal           = -32603 // fault of the server
	CodeHeaderMismatch     = -32020 // a header is missing or differs from the body
	CodeMissingCapability  = -32021 // the client did not declare what the method needs
	CodeUnsupportedVersion = -32022 // unsupported protocol version

	// CodeResourceNotFound exists in the legacy revisions only; see [ResourceNotFound].
	CodeResourceNotFound = -32002

	// CodeCancelled answers a call that its client has cancelled, and so does not wait for. No revision defines a code
	// for it; this one is outside the range that JSON-RPC and MCP reserve.
	CodeCancelled = -32800
)

// Error is a JSON-RPC error as it is sent to the client.
type Error struct {
	Code    int
	Message string
	Data    json.RawMessage // omitted if nil
	// HTTPStatus is the status of the response; if 0, the code and the revision family determine it.
	HTTPStatus int
	// Header is added to the header of the response, for example WWW-Authenticate.
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

// InvalidParams returns an error with code -32602.
func InvalidParams(format string, args ...any) *Error {
	return &Error{Code: CodeInvalidParams, Message: fmt.Sprintf(format, args...)}
}

func invalidRequest(format string, args ...any) *Error {
	return &Error{Code: CodeInvalidRequest, Message: fmt.Sprintf(format, args...)}
}

// httpError returns an invalid request error with an HTTP status.
func httpError(status int, format string, args ...any) *Error {
	e := invalidRequest(format, args...)
	e.HTTPStatus = status
	return e
}

func headerMismatch(format string, args ...any) *Error {
	return &Error{Code: CodeHeaderMismatch, Message: fmt.Sprintf(format, args...)}
}

// status returns the HTTP status of an error. For stateless requests the code determines it (2026-07-28
// streamable-http). For legacy requests an error that answers a well-formed request has status 200; malformed requests
// and unsupported versions get 400. The family is zero if the request could not be parsed so far.
func (e *Error) status(family RevisionFamily) int {
	if e.HTTPStatus != 0 {
		return e.HTTPStatus
	}
	switch e.Code {
	case CodeParse, CodeInvalidRequest, CodeUnsupportedVersion:
		return http.StatusBadRequest
	case CodeInvalidParams, CodeHeaderMismatch, CodeMissingCapability:
		if family != Legacy {
			return http.StatusBadRequest
		}
	case CodeMethodNotFound:
		if family == Stateless {
			return http.StatusNotFound
		}
	}
	return http.StatusOK
}

// ResourceNotFound returns the error for a resource that does not exist or that the caller may not know of. The code
// depends on the family (2025-11-25 and 2026-07-28 server/resources, Error Handling).
func ResourceNotFound(of RevisionFamily, uri string) *Error {
	e := &Error{Code: CodeInvalidParams, Message: "resource not found: resources/list and resources/templates/list have those of this server", Data: append(jsonscan.AppendString([]byte(`{"uri":`), uri), '}')}
	if of == Legacy {
		e.Code = CodeResourceNotFound
	}
	return e
}
