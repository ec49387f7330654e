package admin

import (
	"errors"
	"time"
)

// State is the state of an API.
type State string

// States returns all values of [State].
func States() []State { return []State{Loading, Ready, Stale, Held, Uncallable, Failed} }

// IsServed reports whether an API in this state is served from its newest or last good document.
func (s State) IsServed() bool { return s == Ready || s == Stale || s == Uncallable }

// Values of [State].
const (
	Loading State = "loading" // not loaded yet
	Ready   State = "ready"   // served from the newest document
	Stale   State = "stale"   // served from the last good document, because the newest could not be used
	Held    State = "held"    // a newer document is in quarantine; the last good one is served, if there is one
	// Uncallable APIs are served, but no call can be made: there is no base URL, no credential, or an address that is not allowed.
	Uncallable State = "uncallable"
	Failed     State = "failed" // not served, because no document could be used so far; it is retried
)

// Status is the state of the whole gateway, without secrets.
type Status struct {
	// Ready reports that as many APIs are served as server.ready requires, at least one, that tokens can be verified, that calls are not
	// refused for lack of an audit record, and that the gateway does not drain.
	Ready    bool   `json:"ready"`
	NotReady Lack   `json:"not_ready,omitempty"` // why it is not ready although it serves the APIs; "" else
	Draining bool   `json:"draining"`            // the process is about to end
	Tools    int    `json:"tools"`               // tools served
	Config   Config `json:"config"`
	APIs     []API  `json:"apis"` // in the order of the configuration
	// Issuers are the token issuers; empty if no tokens are required.
	Issuers []Issuer `json:"issuers,omitempty"`
	// Audit is the audit log; nil if there is none.
	Audit *Audit `json:"audit,omitempty"`
	// Shared is the state that replicas share; nil if it is not configured.
	Shared *Shared `json:"shared,omitempty"`
	// Discovery is what providers of services have found; nil if there are no providers.
	Discovery *Discovery `json:"discovery,omitempty"`
}

// Lack is a reason why a gateway that serves its APIs is not ready.
type Lack string

// Values of [Lack].
const (
	NoIssuer Lack = "no token can be verified: no issuer has keys, or some issuers were not tried yet"
	NoAudit  Lack = "the audit log can't be written, and calls are refused"
)

// Issuer is the state of one token issuer. An outage after the start does not affect readiness.
type Issuer struct {
	Issuer        string     `json:"issuer"`
	Able          bool       `json:"able"`              // there are keys, or an introspection endpoint
	Keys          int        `json:"keys"`              // usable keys; 0 with introspection
	Introspection bool       `json:"introspection"`     // tokens are introspected
	Stored        bool       `json:"stored"`            // keys or endpoint are those of server.state_dir, since no fetch has succeeded yet
	Fetched       *time.Time `json:"fetched,omitempty"` // when they were fetched
	Error         string     `json:"error,omitempty"`   // of the last fetch
}

// Audit is the state of the audit log.
type Audit struct {
	Writable bool      `json:"writable"`        // the last attempt to write succeeded
	Since    time.Time `json:"since"`           // time of the last change of writable
	Error    string    `json:"error,omitempty"` // of the last attempt
	Pending  int       `json:"pending"`         // records that wait to be written
	Refuses  bool      `json:"refuses_calls"`   // no call is made, because it is not writable
}

// Shared is the state of the connection to the shared state. It does not affect readiness.
type Shared struct {
	Up       bool      `json:"up"`
	Since    time.Time `json:"since"`           // time of the last change of up
	Error    string    `json:"error,omitempty"` // why it is not up
	Replicas int       `json:"replicas"`        // last seen, this one included
}

// HeldDocument is a document in quarantine: too many operations of the one that is served are
// missing, or it would undo restrictions.
type HeldDocument struct {
	Since      time.Time `json:"since"`
	Digest     string    `json:"digest"`            // SHA-256 of its files, hexadecimal: the If-Match of a request to accept it
	Version    string    `json:"version,omitempty"` // of the API, from the document
	Lost       int       `json:"lost"`              // operations that are missing
	Of         int       `json:"of"`                // operations of the document in use
	Operations []string  `json:"operations"`        // the first of these, as method and path
	// Undone counts the restrictions that it would undo, and Restrictions are the first of them: those of the
	// configuration with positions in the file, and wider access to the operations of the document in use.
	Undone       int      `json:"undone,omitempty"`
	Restrictions []string `json:"restrictions,omitempty"`
}

// Errors of [Options].Accept.
var (
	ErrNoAPI   = errors.New("there is no API of that name; /apis lists them")
	ErrNotHeld = errors.New("no document of this API is held")
	ErrChanged = errors.New("another document is held than the one that If-Match names; look at /apis/NAME again, whose held.digest it wants")
)

// Config is the state of the configuration.
type Config struct {
	LoadedAt time.Time `json:"loaded_at"`       // when the configuration in use was read
	Hash     uint64    `json:"hash"`            // the same at replicas with the same configuration, see [config.Config.Hash]
	Error    string    `json:"error,omitempty"` // why a newer one is not in use; empty if none was rejected
	// Opens lists the wider access of a newer configuration that is held because of it; empty if
	// none is held.
	Opens []string `json:"opens,omitempty"`
	// Prompts lists the problems of the configuration's prompts, with positions in its files.
	Prompts []string `json:"prompts,omitempty"`
	// Workflows lists the reasons why workflows are not served, with positions in their files.
	Workflows []string `json:"workflows,omitempty"`
	// Clashes lists the names of APIs and tools that depend on whether other documents can be read.
	Clashes []string `json:"clashes,omitempty"`
	// Selectors lists the selectors of the configuration that match no operation, with positions in
	// its file.
	Selectors []string `json:"selectors,omitempty"`
	// PassedOver lists the files of configured directories that are not OpenAPI documents.
	PassedOver []string `json:"passed_over,omitempty"`
}

// API is the state of one API.
type API struct {
	Name  string `json:"name"`
	Spec  string `json:"spec"` // the location of the document, without user info and query
	State State  `json:"state"`
	// Service is the service of a registry that the API was made of; nil if the configuration has the API.
	Service  *Service   `json:"service,omitempty"`
	Title    string     `json:"title,omitempty"`
	Version  string     `json:"version,omitempty"`  // of the API, from the document
	Standard string     `json:"standard,omitempty"` // version of the OpenAPI standard
	Tools    int        `json:"tools"`
	Skipped  int        `json:"skipped"`             // operations that are not tools because they can't be called
	Problems int        `json:"problems"`            // what was repaired or guessed in the document
	LoadedAt *time.Time `json:"loaded_at,omitempty"` // when the document in use was read
	// MemoryBytes is the approximate memory use of the document in use, including its tools.
	MemoryBytes int64      `json:"memory_bytes,omitempty"`
	Error       string     `json:"error,omitempty"` // of the last attempt
	NextTryAt   *time.Time `json:"next_try_at,omitempty"`
	Breaker     string     `json:"breaker,omitempty"` // "open" or "half_open"; "" if closed, or without breaker
	// StaleSince is the last time at which the document in use was known to be the newest.
	StaleSince *time.Time `json:"stale_since,omitempty"`
	// Held is the newer document in quarantine.
	Held *HeldDocument `json:"held,omitempty"`

	// Drift is how calls and answers differ from the document; nil if they don't.
	Drift *Drift `json:"drift,omitempty"`

	Operations   OperationCounts `json:"operations"`              // of the document in use, by fate
	Notes        []string        `json:"notes,omitempty"`         // remarks about the API as a whole that are not problems of its document
	Faults       []string        `json:"faults,omitempty"`        // why it can't be used although its document could be read
	Webhooks     int             `json:"webhooks,omitempty"`      // operations in the opposite direction, which are not tools
	Callbacks    int             `json:"callbacks,omitempty"`     // those of single operations
	ProblemCodes Counts          `json:"problem_codes,omitempty"` // how many problems of each code
	SkipCodes    Counts          `json:"skip_codes,omitempty"`    // how many operations are skipped for each reason
}
