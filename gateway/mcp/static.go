package mcp

// Static is a result that was serialized, and compressed, before it was asked
// for. It is immutable and safe for concurrent use.
type Static struct{}

// NewStatic prepares a result from its members, as in [Reply.Result]; members
// must not be changed afterwards.
func NewStatic(members []byte) *Static { return &Static{} }

// Size returns the bytes held: plain and compressed form.
func (s *Static) Size() int { return 0 }
