package tree

// NewNull returns a null that reports origin's position and pointer.
func NewNull(origin *Node) *Node { return newNode(origin, Null, "") }
