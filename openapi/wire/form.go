package wire

import "iter"

// A FormEncoder writes application/x-www-form-urlencoded bodies.
type FormEncoder struct{}

// NewFormEncoder: properties by name; fallback is how every other property is written (Name is not used).
func NewFormEncoder(properties map[string]Parameter, fallback Parameter) (*FormEncoder, error) {
	return &FormEncoder{}, nil
}

// Append appends the pairs of members.
func (f *FormEncoder) Append(dst []byte, members iter.Seq2[string, []byte]) ([]byte, error) {
	return dst, nil
}
