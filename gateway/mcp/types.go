package mcp

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"time"
)

// Method answers one JSON-RPC request. It calls exactly one of reply's
// answering methods (Result, Static) and returns nil, or calls none and returns
// an error: an *Error is sent as it is, any other error is logged with a
// reference and sent as "internal error" (-32603) with that reference only.
//
// ctx carries the values of the HTTP request's context. In the modern era it is
// cancelled when the client goes away; in the legacy era a disconnect is not a
// cancellation (2025-11-25 basic/transports), so there ctx ends only by
// notifications/cancelled, or by a deadline of the method's own; see
// [Request.Disconnected].
//
// req and reply are valid until the method returns.
type Method func(ctx context.Context, req *Request, reply *Reply) error

// Methods is the method table: "tools/list", "tools/call", ... A method that is
// not in the table does not exist (-32601), nor does one whose capability is not
// declared. The handler itself answers initialize, ping, server/discover,
// logging/setLevel, subscriptions/listen, resources/subscribe,
// resources/unsubscribe and all notifications; an entry of one of these names is
// ignored.
type Methods map[string]Method

// RequestIDHeader has the name of a request that failed, for who reports it.
const RequestIDHeader = "X-Request-Id"

// Options are the handler's parameters.
type Options struct {
	// Name and Version identify the server (serverInfo). Title is its display
	// name; may be empty. [Handler.Introduce] changes it, and Instructions.
	Name, Title, Version string
	// Instructions is the text that a client may put before its model; may be empty.
	Instructions string
	// Capabilities is what initialize and server/discover declare. It must agree
	// with the method table (mcp-V2): a capability without methods, and a method
	// without its capability, are both wrong.
	Capabilities Capabilities
	// DiscoverCache is how long a modern client may keep the answer of
	// server/discover. Zero: not at all.
	DiscoverCache Cache

	// MaxBody is the limit of a request's body in bytes; 0: none.
	MaxBody int64
	// MaxDepth is the limit of nesting in a request's body; 0: [jsonscan.DefaultMaxDepth].
	MaxDepth int

	// SealKeys seal the ids of legacy sessions and the states of questions: the first seals, all open.
	// Without a key a random one is made, so that ids are good for this process
	// alone. Keys may have any length; 32 random bytes are right. (Where the process
	// is restricted to FIPS 140, NewHandler panics on keys under 14 bytes.)
	SealKeys [][]byte
	// Principal names the caller whom the request's context carries; "" is the
	// anonymous caller. A legacy session belongs to the principal that began it.
	// nil: everyone is anonymous.
	Principal func(context.Context) string
	// Revoked remembers the legacy sessions that were ended by DELETE. nil:
	// DELETE is refused with 405, as the legacy revisions allow.
	Revocations Revocations
	// Batch decides on the batches of 2025-03-26. nil: they are refused. Each request of
	// a batch is observed on its own, and the batch besides, as the method "batch".
	Batch BatchFunc
	// Admit is asked before each method but those of the handshake: initialize, ping and
	// server/discover. An error refuses the request, as if the method had returned it; an
	// *Error made by [Later] says when to come again. It is asked too, with a request that
	// has no ID, before notifications but notifications/initialized, responses and DELETE
	// are taken. nil: all are admitted.
	Admit Method
	// Crowded tells whether memory is short: then a request with a body of more than 64 KiB
	// is refused with 503. nil: it never is.
	LowMemory func(r *http.Request) bool
	// Relay reaches the other replicas: the answer to a question, a cancellation, a log
	// level and the end of a legacy session may come to another replica than the one that
	// holds the call or the stream. nil: there are no others, or each session always comes
	// to the same.
	Relay RelayFunc
	// Spent remembers the states of questions that are good for one use ([Round].Once).
	// Replicas with the same keys share one. nil: no method asks for such an answer.
	SpentNonces SpentNonces
	// Waits bounds what waits for the answers of users. Handlers that share one bound it together. nil: the handler has one of its own.
	ElicitationLimit *ElicitationLimit
	// Calls are the calls of legacy clients in flight. Handlers that share it end them together. nil: the handler has its own.
	Calls *Calls
	// Hub tells clients of changes: it brings subscriptions/listen and the streams of
	// legacy sessions, and with its Watch resources/subscribe and
	// resources/unsubscribe, which have no entry in the method table. nil: nothing is
	// told.
	Broker *Broker
	// KeepAlive is after how much silence an event stream gets a comment, so that
	// nobody between client and server takes it for dead. 0: never.
	KeepAlive time.Duration
	// MaxStreamAge is how old a stream of changes may become, a tenth more or less by chance; it ends then as in
	// [Hub.Drain]. One of a conversation over lines has no age: there nobody opens it again. 0: any age.
	MaxStreamAge time.Duration

	// Sessionless serves tools/list, tools/call and ping of the legacy revisions in requests without a session, too. What asks
	// the client finds that it can't be asked.
	Sessionless bool

	// RequestID names the request of a context, in the header of an answer that is an error. nil: it has no name.
	RequestID func(context.Context) string

	// Logger gets panics and internal errors; nil: none. Arguments and bodies
	// are never logged.
	Logger *slog.Logger
	// Observe is told of each HTTP request that ServeHTTP has answered; nil:
	// nobody is. It is called by the goroutine of the request.
	Observe func(*http.Request, Event)
	// Panicked is told of a panic that no request sees, where it is recovered: in what is done at a timer, or in a goroutine when the
	// answer is out. nil: nobody is.
	OnPanic func(what string, v any)
	// Park takes the rest of a request that has become a stream of changes, or whose client is slow to read, and has it run
	// when ServeHTTP and what stands around it have returned, in the same goroutine and
	// before the server's handler returns: the stack of a stream that waits is most of
	// what it costs, and shrinks only where little of it is used. False: it can't be, and
	// the rest runs within ServeHTTP. nil: it does always. ctx is that of the request.
	RunAfterMiddleware func(ctx context.Context, rest func()) bool
	// SlowReaders takes the answers that their clients are slow to read, if Park takes the rest of a request. nil: net/http sends them.
	SlowReaders *SlowReaders
	// Now is the clock; nil: time.Now.
	Now func() time.Time
}

// Event is what happened with one HTTP request, for metrics and access logs.
type Event struct {
	// Method is the JSON-RPC method if the server knows it, else "": the value
	// is from a closed set and may label a metric.
	Method string
	// Panicked tells that the method panicked.
	Panicked bool
	// Later is the status of a refusal that need not last, made by [Later], also where the answer has none of its own, as over
	// the older transport; 0: it is none.
	RetryStatus uint16
	// Era and Revision are zero if the request failed before they were known.
	Family   RevisionFamily
	Revision string
	// Code is the JSON-RPC error code of the answer; 0: none.
	Code int
	// HTTPStatus is the status of the answer.
	HTTPStatus int
	// RequestBytes and ResponseBytes count bodies, as they were on the wire.
	RequestBytes, ResponseBytes int64
	// Duration is from the start of ServeHTTP to its end.
	Duration time.Duration
}

// failed notes what an error says of the request.
func (e *Event) setError(err *Error) {
	e.Code = err.Code
	if err.Header["Retry-After"] != nil {
		e.RetryStatus = uint16(err.HTTPStatus) //nolint:gosec // a status has three digits
	}
}

// Capabilities are the server capabilities (2026-07-28 schema,
// ServerCapabilities) that this version can serve. Whether changes of lists and of
// resources are told depends on [Options].Hub.
type Capabilities struct {
	// Tools declares tools/list and tools/call.
	Tools bool
	// Prompts declares prompts/list and prompts/get.
	Prompts bool
	// Resources declares resources/list, resources/templates/list and resources/read.
	Resources bool
	// Completions declares completion/complete.
	Completions bool
	// Tasks declares the extension io.modelcontextprotocol/tasks with tasks/get,
	// tasks/update and tasks/cancel. Legacy clients know nothing of it.
	Tasks bool
	// Logging declares log messages to clients ([Reply.Log]), and brings
	// logging/setLevel to the legacy revisions. The modern one has it deprecated.
	Logging bool
}

// Revocations remembers what was revoked before its time. Both methods are safe
// for concurrent use; the handler does not retry. Ids are short binary strings.
type Revocations interface {
	// Revoke remembers id until the given time; owner is the principal whose it is, who
	// pays for it. An error is answered to the client, who may try again.
	Revoke(ctx context.Context, owner, id string, until time.Time) error
	// Revoked tells whether id was revoked and the time has not passed. It is asked
	// for each legacy request, and after each silence of an open stream; an implementation whose store is out of reach answers
	// by its own policy.
	Revoked(ctx context.Context, id string) bool
}

// Request is one JSON-RPC request. All raw values are slices of the request's
// body: they are checked (valid UTF-8 and JSON, no member name twice) but not
// decoded, and must not be modified or kept after the method has returned.
type Request struct {
	Method string
	// ID is the request's id as the client wrote it: a string or an integer.
	ID json.RawMessage
	// Params is the params object; nil if there is none.
	Params json.RawMessage
	// Client is what the client says it is able to do.
	Client ClientCapabilities
	// Era and Revision tell which protocol the client speaks.
	Family RevisionFamily
	// Part is the place of the request in its batch, from 1; 0: it came alone.
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
	// HTTP is the HTTP request; its body has been read.
	HTTP *http.Request
}

// Disconnected is closed when the client has gone away. In the modern era the
// method's context has ended then as well; in the legacy era it has not, and a
// method that may be stopped without harm watches this channel.
func (r *Request) Disconnected() <-chan struct{} { return r.HTTP.Context().Done() }

// Meta holds the members of params._meta that the server knows, raw; nil where
// there is none.
type Meta struct {
	// ProgressToken is a string or a number.
	ProgressToken json.RawMessage
	// LogLevel is io.modelcontextprotocol/logLevel; 0 if there is none.
	LogLevel Level
	// TraceParent, TraceState and Baggage are W3C trace context as the client
	// sent it, decoded but not validated.
	TraceParent, TraceState, Baggage string
	// ClientInfo is the client's Implementation object. It is for logs only
	// (mcp-M6).
	ClientInfo json.RawMessage
}

// Scope tells who may share a cached result.
type Scope uint8

// The scopes of a cached result (2026-07-28 schema, CacheableResult).
const (
	Private Scope = iota // the caller alone; the zero value, since lists depend on the caller (mcp-R4)
	Public               // everyone
)

// Cache says how a modern client may cache a result; legacy clients are not told.
type Cache struct {
	TTL   time.Duration // whole milliseconds; negative counts as 0
	Scope Scope
}

// Chunk is a piece of a result.
type Chunk struct {
	// Bytes are JSON text, or, with Escape, UTF-8 text that is written as the
	// inside of a JSON string (without the quotes around it). The handler does
	// not check them.
	Bytes  []byte
	Escape bool
}
