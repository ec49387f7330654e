package mcp

import "encoding/json"

// Era is one of the two families of protocol revisions.
type RevisionFamily uint8

// The eras. The zero value means that the era is not known.
const (
	Legacy    RevisionFamily = iota + 1 // 2024-11-05 to 2025-11-25: initialize, sessions
	Stateless                           // since 2026-07-28: stateless, _meta in every request
)

// String returns "legacy", "modern" or "unknown".
func (e RevisionFamily) String() string {
	switch e {
	case Legacy:
		return "legacy"
	case Stateless:
		return "modern"
	}
	return "unknown"
}

// The revisions that are served. Dates sort as they follow each other.
const (
	revision20260728 = "2026-07-28"
	revision20251125 = "2025-11-25"
	revision20250618 = "2025-06-18"
	revision20250326 = "2025-03-26"
	revision20241105 = "2024-11-05"
)

// legacyRevisions are the revisions that initialize negotiates, newest first. A
// session id holds an index into this list: append only.
var legacyRevisions = [...]string{revision20251125, revision20250618, revision20250326, revision20241105}

// Revisions returns every protocol revision that is served, newest first.
func Revisions() []string {
	return append([]string{revision20260728}, legacyRevisions[:]...)
}

// classify decides the era before any header is checked, so that neither era's
// clients are held to the other's rules: a version header of the modern era, or a
// body that carries its version as modern bodies do, is modern; all else is
// legacy. A request that looks modern in one of the two places alone is refused
// by the checks of the modern era, never served by the other.
func classify(header string, e *envelope) RevisionFamily {
	if header >= revision20260728 || e.metaVersion != nil {
		return Stateless
	}
	return Legacy
}

// legacyIndex returns the place of a revision in legacyRevisions, -1 if it is none.
func legacyIndex(revision string) int {
	for i, r := range legacyRevisions {
		if r == revision {
			return i
		}
	}
	return -1
}

// badVersion is the error for a version that is not served (mcp-H8). A legacy
// revision in a modern request is such a version: it has to be negotiated.
func unsupportedVersion(requested string) *Error {
	supported := Revisions()
	if legacyIndex(requested) >= 0 {
		supported = supported[:1]
	}
	data, err := json.Marshal(struct {
		Supported []string `json:"supported"`
		Requested string   `json:"requested"`
	}{supported, requested})
	if err != nil { // strings always marshal
		data = nil
	}
	return &Error{Code: CodeBadVersion, Message: "unsupported protocol version", Data: data}
}
