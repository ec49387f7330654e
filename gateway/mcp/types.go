package mcp

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"time"
)

// Method answers one JSON-RPC request. It either calls exactly one answering method of reply, such as [Reply.Result],
// and returns nil, or calls none and returns an error. An *Error is sent as it is; any other error is logged with a
// reference and sent as "internal error" (-32603) with that reference only.
//
// ctx carries the values of the HTTP request's context. For a stateless client it is cancelled when the client
// disconnects. For a legacy client a disconnect is not a cancellation (2025-11-25 basic/transports), so ctx ends only
// by notifications/cancelled, by a deadline of the method's own or by [Calls.Shutdown]; see [Request.Disconnected].
//
// req and reply are valid until the method returns.
type Method func(ctx context.Context, req *Request, reply *Reply) error

// Methods is the method table: "tools/list", "tools/call" and so on. A method that is not in the table does not exist
// (-32601), nor does one whose capability is not declared. The handler itself answers initialize, ping,
// server/discover, logging/setLevel, subscriptions/listen, resources/subscribe, resources/unsubscribe and all
// notifications; an entry of one of these names is ignored.
type Methods map[string]Method

// RequestIDHeader is the header of an error response with the id of the request, for reports of the error.
const RequestIDHeader = "X-Request-Id"

// Options are the parameters of a [Handler].
type Options struct {
	ReloadableOptions

	// Name and Version identify the server (serverInfo). Title is its display name and may be empty.
	// [Handler.SetServerInfo] changes Name, Title and Instructions, and adds more.
	Name, Title, Version string
	// Instructions is text for the client's model; it may be empty.
	Instructions string
	// Capabilities are declared by initialize and server/discover. They must agree with the method table (mcp-V2): a
	// capability without methods and a method without its capability are both wrong.
	Capabilities Capabilities
	// Connect is called for initialize and server/discover with the current Instructions, and returns those for this
	// client, which it may choose by [Request.Query]. An error refuses the client. If nil, all clients get the same.
	Connect func(ctx context.Context, req *Request, own string) (instructions string, err error)
	// DiscoverCache is the caching hint of server/discover. The zero value forbids caching.
	DiscoverCache Cache

	// Principal returns the caller that the request's context carries, "" for an anonymous one. A legacy session
	// belongs to the principal that initialized it. If nil, every caller is anonymous.
	Principal func(context.Context) string
	// Revocations stores the legacy sessions that DELETE has ended. If nil, DELETE is refused with 405, as the legacy
	// revisions allow.
	Revocations Revocations
	// Batch decides on the batches of 2025-03-26. If nil, they are refused. Each request of a batch is observed on its
	// own, and the batch itself as the method "batch".
	Batch BatchFunc
	// Admit is called before each method except those of the handshake: initialize, ping and server/discover. An error
	// refuses the request as if the method had returned it; an *Error made by [RetryLater] says when to retry. It is
	// also called, with a request without an ID, before responses, DELETE and notifications other than
	// notifications/initialized. If nil, everything is admitted.
	Admit Method
	// LowMemory reports whether memory is short; a request with a body of more than 64 KiB is refused with 503 then. It
	// may be nil.
	LowMemory func(r *http.Request) bool
	// Relay sends messages about legacy sessions to the other replicas: an input response, a cancellation, a log level
	// or the end of a session may arrive at another replica than the one that holds the call or the stream. It is nil
	// if there is one replica, or if each session always reaches the same.
	Relay RelayFunc
	// SpentNonces remembers the request states that are valid for one use ([InputRequired].SingleUse). Replicas with
	// the same keys share one. It may be nil if no method elicits single-use responses.
	SpentNonces SpentNonces
	// ElicitationLimit limits the requests that wait for their users. Handlers that share one are limited together. If
	// nil, the handler has its own.
	ElicitationLimit *ElicitationLimit
	// Calls are the legacy calls in flight. Handlers that share it are shut down together. If nil, the handler has its
	// own.
	Calls *Calls
	// Broker delivers change notifications. It enables subscriptions/listen and the GET streams of legacy sessions and,
	// if it has SubscribeResource, resources/subscribe and resources/unsubscribe, which have no entry in the method
	// table. If nil, clients are notified of no changes.
	Broker *Broker
	// RequestID returns the id of a request for [RequestIDHeader]. If nil, error responses don't have the header.
	RequestID func(context.Context) string

	// Logger logs panics and internal errors, never arguments or bodies. If nil, nothing is logged.
	Logger *slog.Logger
	// Observe is called for each HTTP request that ServeHTTP has answered, in the goroutine of the request. req is the
	// request as far as it was read, and valid until Observe returns; called is what [Reply.Called] was told, or nil.
	// Observe may be nil.
	Observe func(req *Request, e Event, called *Called)
	// OnPanic is called with each recovered panic that belongs to no request: in a timer, or in a goroutine after the
	// response. It may be nil.
	OnPanic func(what string, v any)
	// RunAfterMiddleware takes the rest of a request that has become a subscription stream or whose client reads
	// slowly, and runs it after ServeHTTP and the middleware around it have returned, in the same goroutine and before
	// the server's handler returns. The stack is most of the cost of a waiting stream, and it shrinks only where little
	// of it is used. If it returns false or is nil, the rest runs within ServeHTTP. ctx is the request's.
	RunAfterMiddleware func(ctx context.Context, rest func()) bool
	// SlowReaders takes over the responses to slow readers, if RunAfterMiddleware takes the rest of the request. If
	// nil, net/http sends them.
	SlowReaders *SlowReaders
	// Now is the clock. The default is time.Now.
	Now func() time.Time
}

// Event describes one HTTP request that was served, for metrics and access logs.
type Event struct {
	// Method is the JSON-RPC method if the server knows it, else "". The values are a closed set and may label a
	// metric.
	Method string
	// Panicked is true if the method panicked.
	Panicked bool
	// RetryStatus is the HTTP status of an error made by [RetryLater], even if the response has another, as over the
	// HTTP+SSE transport. It is 0 for any other response.
	RetryStatus uint16
	// Family and Revision are zero if the request failed before they were known.
	Family   RevisionFamily
	Revision string
	// Code is the JSON-RPC error code of the response, 0 for a result.
	Code int
	// HTTPStatus is the status of the response.
	HTTPStatus int
	// RequestBytes and ResponseBytes are the sizes of the bodies on the wire.
	RequestBytes, ResponseBytes int64
	// Duration is the time from the start of ServeHTTP to its end.
	Duration time.Duration
}

// Called is a call of a tool, for metrics and traces.
type Called struct {
	// Tool is the label of the tool: its name, or that of a group.
	Tool string
	// Failed is true if the result is an error.
	Failed bool
	// Traced is true if the call has a span.
	Traced bool
}

// setError records the error that answers the request.
func (e *Event) setError(err *Error) {
	e.Code = err.Code
	if err.Header["Retry-After"] != nil {
		e.RetryStatus = uint16(err.HTTPStatus) //nolint:gosec // a status has three digits
	}
}

// Capabilities are the server capabilities (2026-07-28 schema, ServerCapabilities). [Options].Broker determines whether
// list changes and resource subscriptions are declared.
type Capabilities struct {
	// Tools declares tools/list and tools/call.
	Tools bool
	// Prompts declares prompts/list and prompts/get.
	Prompts bool
	// Resources declares resources/list, resources/templates/list and resources/read.
	Resources bool
	// Completions declares completion/complete.
	Completions bool
	// Skills declares the extension io.modelcontextprotocol/skills with skills/list and skills/get, to stateless clients
	// only.
	Skills bool
	// Tasks declares the extension io.modelcontextprotocol/tasks with tasks/get, tasks/update and tasks/cancel, to
	// stateless clients only.
	Tasks bool
	// Logging declares log messages to clients ([Reply.Log]) and enables logging/setLevel for the legacy revisions. It
	// is deprecated in 2026-07-28.
	Logging bool
}

// Revocations stores ids that were revoked before they expire. Both methods are safe for concurrent use; the handler
// does not retry. Ids are short binary strings.
type Revocations interface {
	// Revoke stores id until the given time. owner is the principal that id belongs to, whose quota it counts against.
	// An error is sent to the client, which may try again.
	Revoke(ctx context.Context, owner, id string, until time.Time) error
	// Revoked reports whether id was revoked and the time has not passed. It is called for each legacy request and
	// after each silence of an open stream; an implementation whose store is unreachable decides by its own policy.
	Revoked(ctx context.Context, id string) bool
}

// Request is one JSON-RPC request. All raw values are slices of the request's body: they are checked (valid UTF-8 and
// JSON, no duplicate member names) but not decoded, and must not be modified, or kept after the method has returned.
type Request struct {
	Method string
	// ID is the request's id as the client wrote it: a string or an integer.
	ID json.RawMessage
	// Params is the params object; nil if there is none.
	Params json.RawMessage
	// Client is the set of capabilities that the client has declared.
	Client ClientCapabilities
	// Family and Revision are those of the protocol that the client uses.
	Family RevisionFamily
	// BatchIndex is the position of the request in its batch, from 1. It is 0 if the request was sent alone.
	BatchIndex uint8
	Revision   string
	// Name is params.name, decoded: the tool of tools/call. "" if there is none.
	Name string
	// URI is params.uri, decoded: the resource of resources/read. "" if there is none.
	URI string
	// TaskID is params.taskId, decoded: the task of tasks/get. "" if there is none.
	TaskID string
	// Arguments is params.arguments, an object; nil if there is none.
	Arguments json.RawMessage
	// Cursor is params.cursor, decoded; "" if there is none.
	Cursor string
	// Meta is params._meta.
	Meta Meta
	// Principal is the result of Options.Principal.
	Principal string
	// HTTP is the HTTP request. Its body has been read.
	HTTP *http.Request

	session *session // nil if there is none
}

// Query returns the query of the URL that the client has connected to, undecoded: that of the request or, in a legacy
// session, that of initialize. It is "" if there is none.
func (r *Request) Query() string {
	if r.session != nil {
		return r.session.query
	}
	return r.HTTP.URL.RawQuery
}

// Disconnected is closed when the client has disconnected. For a stateless client the method's context ends at the same
// time; for a legacy client it does not, and a method that can be stopped without harm should watch this channel.
func (r *Request) Disconnected() <-chan struct{} { return r.HTTP.Context().Done() }

// Meta holds the members of params._meta that the server knows, raw. Absent members are nil.
type Meta struct {
	// ProgressToken is a string or a number.
	ProgressToken json.RawMessage
	// LogLevel is io.modelcontextprotocol/logLevel; 0 if there is none.
	LogLevel Level
	// TraceParent, TraceState and Baggage are the W3C trace context that the client sent, decoded but not validated.
	TraceParent, TraceState, Baggage string
	// ClientInfo is the client's Implementation object. It is for logs only
	// (mcp-M6).
	ClientInfo json.RawMessage
}

// Scope is the set of callers that may share a cached result.
type Scope uint8

// The scopes of a cached result (2026-07-28 schema, CacheableResult).
const (
	Private Scope = iota // the caller only; the zero value, since lists depend on the caller (mcp-R4)
	Public               // all callers
)

// Cache holds the caching hints of a result for stateless clients; legacy results have none.
type Cache struct {
	TTL   time.Duration // whole milliseconds; negative counts as 0
	Scope Scope
}

// Chunk is a part of a result.
type Chunk struct {
	// Bytes are JSON text or, with Escape, UTF-8 text that is written as the inside of a JSON string, without its
	// quotes. The handler does not check them.
	Bytes  []byte
	Escape bool
}
