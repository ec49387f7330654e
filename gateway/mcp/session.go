package mcp

// ClientCapabilities is the set of client capabilities that the server knows.
type ClientCapabilities uint16

// Client capabilities (2026-07-28 schema, ClientCapabilities).
const (
	ClientElicitation ClientCapabilities = 1 << iota // elicitation in form mode
	ClientElicitationURL
	ClientSampling
	ClientRoots
	ClientTasks // extension io.modelcontextprotocol/tasks
)

// Has tells whether all of want were declared.
func (c ClientCapabilities) Has(want ClientCapabilities) bool { return c&want == want }
