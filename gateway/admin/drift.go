package admin

import (
	"fmt"
	"strings"
	"time"

	"drawbridge/openapi/drift"
)

// Drift is how the calls and answers of an API differ from its document, as this process has counted it.
type Drift struct {
	Since  time.Time `json:"since"`  // start of the process, or of the use of the document
	Total  int64     `json:"total"`  // occurrences
	Places int       `json:"places"` // different ones, as far as they are counted one by one
	// Uncounted are the occurrences of differences beyond those that are counted one by one.
	Uncounted int64 `json:"uncounted,omitempty"`
	// Differences are the places, the most frequent first. A [Status] leaves them out.
	Differences []Difference `json:"differences,omitempty"`
}

// Difference is one way in which an operation differs from the document. Its texts come from the document, except status and media type.
type Difference struct {
	Method string `json:"method"`
	Path   string `json:"path"`
	drift.Difference
	Count int64     `json:"count"`
	Last  time.Time `json:"last"`
}

// Text describes the difference: "content: declared string, refused as object 12 times".
func (d *Difference) Text() string {
	if d.Count == 1 {
		return d.Phrase() + " once"
	}
	return fmt.Sprintf("%s %d times", d.Phrase(), d.Count)
}

// Phrase is Text without how often it occurred.
func (d *Difference) Phrase() string {
	if d.Pointer == "" {
		return d.String()
	}
	return strings.TrimPrefix(d.Pointer, "/") + ": " + d.String()
}
