package catalog

import (
	"strconv"

	"drawbridge/openapi/httpmethod"
)

// Annotations are the behavior hints of a tool (MCP ToolAnnotations). All are explicit, because the
// defaults of the protocol are wrong for most operations.
type Annotations struct {
	ReadOnly    bool // no side effects
	Destructive bool // may replace or remove data, rather than only add
	Idempotent  bool // repeated calls with the same arguments have no further effect
	OpenWorld   bool // the tool interacts with an external system
}

// AnnotationsOf returns the annotations of a method. They follow from the method only (RFC 9110 section 9.2, S11): safe methods are read-only
// and idempotent; PUT replaces and DELETE removes the state of a resource, both idempotent; PATCH
// (RFC 5789) modifies it in place. For POST, which may do anything (section 9.3.3), and unknown
// methods the worst is assumed: destructiveHint false would promise that a call only adds. Every
// operation reaches an external service.
func AnnotationsOf(method string) Annotations {
	a := Annotations{OpenWorld: true}
	a.ReadOnly, a.Idempotent = httpmethod.IsSafe(method), httpmethod.IsIdempotent(method)
	a.Destructive = !a.ReadOnly
	return a
}

// Append appends the members of the annotations object.
func (a Annotations) Append(dst []byte) []byte {
	dst = strconv.AppendBool(append(dst, `"readOnlyHint":`...), a.ReadOnly)
	dst = strconv.AppendBool(append(dst, `,"destructiveHint":`...), a.Destructive)
	dst = strconv.AppendBool(append(dst, `,"idempotentHint":`...), a.Idempotent)
	return strconv.AppendBool(append(dst, `,"openWorldHint":`...), a.OpenWorld)
}
