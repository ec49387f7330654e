package source

import (
	"time"

	"drawbridge/openapi/fetch"
)

// Update is the outcome of one attempt of a source to load its document. The document is unchanged if Document and Err
// are both nil.
type Update struct {
	Source   *Source
	Document *Document
	// Copy is the text of Document for the last-known-good store; nil if it is not stored.
	Copy *fetch.Copy
	// Stored is the last-known-good document, for a source that has none yet; nil if it is not needed.
	Stored *Document
	// Early is true if only Stored is set and the attempt continues.
	Early bool
	Err   error
	// NextTry is when the next attempt begins; zero if only a request or a change of files leads to one.
	NextTry time.Time

	turn int64 // number of the last reload that had requested a load when the attempt began
}
