package tree

// Warning is one thing that was repaired or ignored while loading.
type Warning struct {
	Position Position
	Pointer  string // JSON pointer within Position.File, as the document stood
	Code     string // from a closed set, kebab-case: see the Code constants
	Message  string
}

// String returns "file:line:col: pointer: message".
func (w Warning) String() string {
	s := w.Position.String() + ": "
	if w.Pointer != "" {
		s += w.Pointer + ": "
	}
	return s + w.Message
}
