package tree

// SyntaxError says that a file can't be read as a document at all: it is broken
// JSON or YAML, a web page, empty, compressed, or not an OpenAPI document.
type SyntaxError struct {
	Position Position
	Message  string // what is wrong; what to do
}

// Error returns "file:line:col: what; what to do".
func (e *SyntaxError) Error() string { return e.Position.String() + ": " + e.Message }

// LimitError says that a document exceeds one of Limits and where it does so.
type LimitError struct {
	Position Position
	Message  string // what is too much; what to do
}

// Error returns "file:line:col: what; what to do".
func (e *LimitError) Error() string { return e.Position.String() + ": " + e.Message }

// RefError says why a reference can't be resolved.
type RefError struct {
	Position Position // of the reference
	Ref      string   // as written
	Message  string
}

// Error returns `file:line:col: $ref "…": why`.
func (e *RefError) Error() string {
	return e.Position.String() + ": $ref " + quote(e.Ref) + ": " + e.Message
}
