package config

// Ready sets when the gateway reports ready.
type Ready struct {
	// When the gateway first reports ready: when one API is served (any), when in addition each load was tried (tried),
	// or when each API is served (all).
	APIs ReadyAPIs `yaml:"apis" default:"any"`
	// Keeps the gateway ready while audit records can't be written, so that it serves lists. Calls are rejected all the
	// same.
	WithoutAudit bool `yaml:"without_audit" default:"false"`
}

// ReadyAPIs is the set of APIs that the gateway waits for.
type ReadyAPIs string

// The values of [ReadyAPIs].
const (
	ReadyAny   ReadyAPIs = "any"   // one API is served
	ReadyTried ReadyAPIs = "tried" // one is, and each document was tried once
	ReadyAll   ReadyAPIs = "all"   // each is
)

func (ReadyAPIs) values() []string { return []string{"any", "tried", "all"} }

func (r *Ready) short() short { return short{value: &r.APIs} }
