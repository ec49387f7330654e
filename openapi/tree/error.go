package tree

// SyntaxError means that a file can't be read as a document at all: it is broken JSON or YAML, a web page, empty,
// compressed, or not an OpenAPI document.
type SyntaxError struct {
	Position Position
	Message  string // the fault; the next step
}

// Error returns "file:line:col: fault; next step".
func (e *SyntaxError) Error() string { return e.Position.String() + ": " + e.Message }

// LimitError means that a document exceeds one of Limits, at a position.
type LimitError struct {
	Position Position
	Message  string // the excess; the next step
}

// Error returns "file:line:col: excess; next step".
func (e *LimitError) Error() string { return e.Position.String() + ": " + e.Message }

// RefError is the reason why a reference can't be resolved.
type RefError struct {
	Position Position // of the reference
	Ref      string   // as written
	Message  string
}

// Error returns `file:line:col: $ref "…": reason`.
func (e *RefError) Error() string {
	return e.Position.String() + ": $ref " + quote(e.Ref) + ": " + e.Message
}
