package call

import (
	"context"
	"encoding/json"
	"net/http"

	"drawbridge/auth"
	"drawbridge/gateway/admission"
	"drawbridge/gateway/clientip"
	"drawbridge/gateway/elicit"
	"drawbridge/gateway/inbound"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/plan"
	"drawbridge/gateway/projection"
	"drawbridge/gateway/telemetry"
)

// Invocation is a call that is to be made: of which tool, for whom, with which arguments, and under which policy. It is a value, and
// depends on no request: whatever a call needs of one is here.
type Invocation struct {
	Endpoint *Endpoint
	// Tool is the called tool; nil if there is none of that name, for [Runner.RecordDenied].
	Tool Tool
	// Name is the name of the tool as the caller wrote it. Via is the built-in tool through which it was called; "" if it was called by its
	// own name.
	Name, Via string
	// Origin is what makes the call, and Method is the MCP method that it serves, such as tools/call.
	Origin Origin
	Method string
	// Parent identifies the call that this one is a step of, or "".
	Parent string

	Caller Caller
	// Client is that of the caller; nil if none waits for the call.
	Client Client
	// Message is the JSON-RPC message that makes the call; zero if none does.
	Message telemetry.Message
	// Request is the id in logs; nil for a call without a request, which gets its own.
	Request *inbound.ID
	// Check is the token check of the request, for the span of the call, or nil.
	Check *telemetry.PendingCheck
	// Memory is that of the request's large responses; nil if the call has its own.
	Memory *admission.RequestMemory

	// MemoryChecked reports that the request was found to fit into memory before, so that this is not asked again.
	MemoryChecked bool

	// Arguments is a JSON object, or nil. Dropped are the JSON Pointers of those that were left out of it.
	Arguments json.RawMessage
	Dropped   []string
	// Fields are those of the response that the caller wants; nil if it wants all.
	Fields *projection.FieldList
	// Input is what the caller brings to a call that has asked its user, or may; nil if nothing. A tool that never asks does not see it.
	Input *mcp.Input
	// Verify checks what the protocol demands of the call, once it is admitted and before its arguments are; nil if that is nothing. Its
	// error is a [*Failure], a [*Refusal], or one for the client.
	Verify func(ctx context.Context) error
	// Validators are header fields of the request that make it conditional (RFC 9110 section 13.1); nil if it is not.
	Validators http.Header
	// Consented reports that the user has agreed to the call before.
	Consented bool
	// Trial shows the requests to the operator of the console; nil for any other origin.
	Trial *Trial

	Policy Policy
}

// Plan returns the plan of a tool that is an operation; nil for any other kind.
func (inv *Invocation) Plan() *plan.Plan { return PlanOf(inv.Tool) }

// Caller is for whom a call is made.
type Caller struct {
	Principal *auth.Principal // nil if no token was required
	ID        string          // of the principal; "" for an anonymous caller
	Address   clientip.Key    // that an anonymous caller is counted by; zero if none
	// Header is that of the request: the headers that plans pass on are taken from it. It is nil if there is none.
	Header http.Header
	// Protocol is that of the client.
	Protocol Protocol
}

// Protocol is the revision of MCP that a client speaks, and what it can do.
type Protocol struct {
	Family       mcp.RevisionFamily
	Revision     string
	Capabilities mcp.ClientCapabilities
}

// Charged returns the caller to whom the memory of large responses is charged: the principal, or the address if there is none.
func (c *Caller) Charged() admission.Caller {
	if c.ID == "" {
		return admission.Caller{Address: c.Address}
	}
	return admission.Caller{Principal: c.ID}
}

// Client is the way from a call to the client that waits for it. [*mcp.Reply] is one. Its methods are safe for concurrent use.
type Client interface {
	elicit.Client
	// Progress and Log notify the client if it wants to know. An error is that of its connection.
	Progress(progress, total float64, message string) error
	Log(level mcp.Level, logger string, data []byte) error
	// LogEnabled reports whether the client wants log messages of a level.
	LogEnabled(level mcp.Level) bool
	// Listens reports whether the client wants progress, or log messages of any level.
	Listens() bool
	// Called tells which tool the request of the client has called, and how that ended.
	Called(mcp.Called)
	// KeepAlive keeps a client that waits for long from giving up.
	KeepAlive()
	// OnDisconnect calls f in its own goroutine when the client has disconnected, unless stop comes first.
	OnDisconnect(f func()) (stop func() bool)
}

// nobody is the client of a call that none waits for.
type nobody struct{}

func (nobody) CanElicit(...mcp.InputKind) error        { return mcp.ErrNoClient }
func (nobody) Progress(float64, float64, string) error { return nil }
func (nobody) Log(mcp.Level, string, []byte) error     { return nil }
func (nobody) LogEnabled(mcp.Level) bool               { return false }
func (nobody) Listens() bool                           { return false }
func (nobody) Called(mcp.Called)                       {}
func (nobody) KeepAlive()                              {}
func (nobody) OnDisconnect(func()) (stop func() bool)  { return func() bool { return true } }
