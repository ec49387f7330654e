package admin

import (
	"errors"
	"time"
)

// State is where an API stands.
type State string

// The states of an API.
const (
	Loading State = "loading" // not read yet
	Ready   State = "ready"   // served from the newest document
	Stale   State = "stale"   // served from the last good document: the newest could not be used
	Held    State = "held"    // a newer document is in quarantine; the last good one is served, if there is one
	Failed  State = "failed"  // not served: no document could be used so far; it is tried again
)

// Status is the state of the whole gateway, without secrets.
type Status struct {
	Ready    bool   `json:"ready"`    // as many APIs are served as server.ready asks for, at least one, and the gateway does not drain
	Draining bool   `json:"draining"` // the process is about to end
	Tools    int    `json:"tools"`    // tools served
	Config   Config `json:"config"`
	APIs     []API  `json:"apis"` // in the order of the configuration
	// Shared is the state that replicas share; nil: they share none.
	Shared *Shared `json:"shared,omitempty"`
}

// Shared is how the connection to what replicas share stands. It never makes the gateway unready.
type Shared struct {
	Up       bool      `json:"up"`
	Since    time.Time `json:"since"`           // it is up, or not
	Error    string    `json:"error,omitempty"` // why it is not
	Replicas int       `json:"replicas"`        // that were last seen, this one included
}

// HeldDocument is a document in quarantine: it lacks too many operations of the one that is served, or it would undo
// restrictions of the configuration.
type HeldDocument struct {
	Since      time.Time `json:"since"`
	Digest     string    `json:"digest"`            // SHA-256 of its files, hexadecimal: the If-Match of who accepts it
	Version    string    `json:"version,omitempty"` // of the API, from the document
	Lost       int       `json:"lost"`              // operations that it lacks
	Of         int       `json:"of"`                // operations of the document in use
	Operations []string  `json:"operations"`        // the first of these, as method and path
	// Undone counts the restrictions of the configuration that it would undo, and Restrictions are the first of them, with places in the file.
	Undone       int      `json:"undone,omitempty"`
	Restrictions []string `json:"restrictions,omitempty"`
}

// What [Options].Accept returns where there is nothing to accept.
var (
	ErrNoAPI   = errors.New("there is no API of that name; /apis lists them")
	ErrNotHeld = errors.New("no document of this API is held")
	ErrChanged = errors.New("another document is held than the one that If-Match names; look at /apis/NAME again, whose held.digest it wants")
)

// Config is the state of the configuration.
type Config struct {
	LoadedAt time.Time `json:"loaded_at"`       // when the configuration in use was read
	Error    string    `json:"error,omitempty"` // why a newer one is not in use; empty: none was refused
	// Opens tells what a newer configuration would open, which is held for that; empty: none is held.
	Opens []string `json:"opens,omitempty"`
	// Prompts tells what keeps prompts of the configuration from being had, with places in its files.
	Prompts []string `json:"prompts,omitempty"`
	// Clashes tells which names of APIs and tools depend on whether other documents can be read.
	Clashes []string `json:"clashes,omitempty"`
	// Selectors tells which selectors of the configuration match no operation, with places in its file.
	Selectors []string `json:"selectors,omitempty"`
	// PassedOver lists the files of configured directories that are no documents.
	PassedOver []string `json:"passed_over,omitempty"`
}

// API is the state of one API.
type API struct {
	Name     string     `json:"name"`
	Spec     string     `json:"spec"` // where the document comes from, without user info and query
	State    State      `json:"state"`
	Title    string     `json:"title,omitempty"`
	Version  string     `json:"version,omitempty"`  // of the API, from the document
	Standard string     `json:"standard,omitempty"` // version of the OpenAPI standard
	Tools    int        `json:"tools"`
	Skipped  int        `json:"skipped"`             // operations that are not tools because they can't be called
	Problems int        `json:"problems"`            // what was repaired or guessed in the document
	LoadedAt *time.Time `json:"loaded_at,omitempty"` // when the document in use was read
	// MemoryBytes is about how many bytes what was made of the document in use takes, its tools with it.
	MemoryBytes int64      `json:"memory_bytes,omitempty"`
	Error       string     `json:"error,omitempty"` // of the last attempt
	NextTryAt   *time.Time `json:"next_try_at,omitempty"`
	Breaker     string     `json:"breaker,omitempty"` // "open" or "half_open"; "": calls go to the service, or there is no breaker
	// StaleSince is when the document in use was the newest for the last time, as far as is known.
	StaleSince *time.Time `json:"stale_since,omitempty"`
	// Held is the newer document that waits for an operator.
	Held *HeldDocument `json:"held,omitempty"`

	Fates        Fates    `json:"operations"`              // of the document in use, by fate
	Notes        []string `json:"notes,omitempty"`         // what is to be known of the API as a whole, and is no problem of its document
	Faults       []string `json:"faults,omitempty"`        // why it can't be used although its document could be read
	Webhooks     int      `json:"webhooks,omitempty"`      // operations that go the other way, and are no tools
	Callbacks    int      `json:"callbacks,omitempty"`     // the same of single operations
	ProblemCodes Counts   `json:"problem_codes,omitempty"` // how many problems of each code
	SkipCodes    Counts   `json:"skip_codes,omitempty"`    // how many operations are skipped for each reason
}
