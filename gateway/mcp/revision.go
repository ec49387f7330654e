package mcp

import "encoding/json"

// RevisionFamily is one of the two families of protocol revisions.
type RevisionFamily uint8

// The families. The zero value means that the family is not known.
const (
	Legacy    RevisionFamily = iota + 1 // 2024-11-05 to 2025-11-25: initialize, sessions
	Stateless                           // since 2026-07-28: no sessions, _meta in every request
)

// String returns "legacy", "modern" or "unknown", the values of the metrics' label.
func (f RevisionFamily) String() string {
	switch f {
	case Legacy:
		return "legacy"
	case Stateless:
		return "modern"
	}
	return "unknown"
}

// The supported revisions. The dates sort chronologically as strings.
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

// classify determines the family before any header is checked, so that clients of one family aren't held to the rules
// of the other: a version header of 2026-07-28 or later, or a body with its version in _meta, is stateless; all else is
// legacy. A request that looks stateless in only one of the two places is refused by the stateless checks, and never
// served as legacy.
func classify(header string, e *envelope) RevisionFamily {
	if header >= revision20260728 || e.metaVersion != nil {
		return Stateless
	}
	return Legacy
}

// legacyIndex returns the index of a revision in legacyRevisions, -1 if it is not there.
func legacyIndex(revision string) int {
	for i, r := range legacyRevisions {
		if r == revision {
			return i
		}
	}
	return -1
}

// unsupportedVersion returns the error for a version that is not supported (mcp-H8). A legacy revision in a stateless
// request is one, since it has to be negotiated by initialize.
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
	return &Error{Code: CodeUnsupportedVersion, Message: "unsupported protocol version", Data: data}
}
