package catalog

import (
	"encoding/json"

	"drawbridge/openapi"
)

// Schemas are the JSON Schemas that a tool publishes: those of an [openapi.Operation], or its own. They are immutable; output is nil
// if there is none.
type Schemas interface {
	// Published returns the schemas as clients see them in a profile.
	Published(p openapi.Profile) (input, output json.RawMessage)
	// Approved returns the schemas that an approval covers.
	Approved() (input, output json.RawMessage)
	// ExampleCall returns an example of valid arguments, nil if none is found at once.
	ExampleCall() json.RawMessage
}

// Document has the texts that an API's document has of a tool. Empty ones are absent.
type Document struct {
	ID                   string // operationId
	Summary, Description string
	Returns              string // description of the successful response
}

// ownSchemas are the schemas of a tool that is no operation, equal in all profiles.
type ownSchemas struct{ input, output json.RawMessage }

func (s ownSchemas) Published(openapi.Profile) (input, output json.RawMessage) {
	return s.input, s.output
}
func (s ownSchemas) Approved() (input, output json.RawMessage) { return s.input, s.output }
func (s ownSchemas) ExampleCall() json.RawMessage              { return nil }
