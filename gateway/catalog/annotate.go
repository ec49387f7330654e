package catalog

import (
	"strconv"

	"drawbridge/openapi/httpmethod"
)

// Annotations are the behaviour hints of a tool (MCP ToolAnnotations). All are explicit, because the defaults of the
// protocol say the contrary of what most operations do.
type Annotations struct {
	ReadOnly    bool // nothing is changed
	Destructive bool // something may be replaced or removed, rather than only added
	Idempotent  bool // a second call with the same arguments changes nothing more
	OpenWorld   bool // the tool reaches a system outside
}

// annotations follow from the method alone (RFC 9110 section 9.2, S11): safe methods read, and are idempotent; PUT replaces
// and DELETE removes the state of a resource, both idempotent; PATCH (RFC 5789) changes it in place. POST may do anything
// (section 9.3.3), and nothing is known of other methods, so the worst is assumed of them: destructiveHint false would
// promise that a call only adds. Every operation reaches a service that the gateway doesn't control.
func annotations(method string) Annotations {
	a := Annotations{OpenWorld: true}
	a.ReadOnly, a.Idempotent = httpmethod.IsSafe(method), httpmethod.IsIdempotent(method)
	a.Destructive = !a.ReadOnly
	return a
}

// append appends the members of the annotations object.
func (a Annotations) append(dst []byte) []byte {
	dst = strconv.AppendBool(append(dst, `"readOnlyHint":`...), a.ReadOnly)
	dst = strconv.AppendBool(append(dst, `,"destructiveHint":`...), a.Destructive)
	dst = strconv.AppendBool(append(dst, `,"idempotentHint":`...), a.Idempotent)
	return strconv.AppendBool(append(dst, `,"openWorldHint":`...), a.OpenWorld)
}
