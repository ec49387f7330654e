package source

import (
	"encoding/hex"
	"time"

	"drawbridge/gateway/upstream"
	"drawbridge/openapi"
	"drawbridge/openapi/fetch"
	"drawbridge/openapi/overlay"
)

// Document is a compiled OpenAPI document with everything that its source derives from it. It is immutable.
type Document struct {
	Title, Version, Standard string
	// Stamp holds the digest and the files of the document, to recognize an unchanged one.
	Stamp fetch.Stamp
	// Overlays holds the result of each action of the overlays.
	Overlays []overlay.Action
	// API holds the operations.
	API *openapi.API
	// Advice lists deviations from the OpenAPI standard, if [Deps].Advise is set.
	Advice []openapi.Problem
	// Client sends calls to the service.
	Client *upstream.Client
	// Credentials holds the credential of each operation.
	Credentials *Credentials
	servers     []documentServer // that claims select among, see [Source.Servers]
	// Extensions holds the settings that the document declares.
	Extensions *Extensions
	// Read is when the document was read from its origin.
	Read time.Time
}

// Digest identifies the document by its bytes.
func (d *Document) Digest() string { return hex.EncodeToString(d.Stamp.Digest[:]) }
