package plan

import (
	"encoding/json"
	"net/url"

	"drawbridge/gateway/job"
	"drawbridge/openapi"
	"drawbridge/openapi/origin"
)

// ResponseOf is an operation whose response is requested, with the arguments of the call.
type ResponseOf struct {
	Operation *openapi.Operation
	Arguments json.RawMessage
}

// ResponsesAt returns the operations of the API that a URL of its service matches: those with the fewest variables, more than one if the
// match is ambiguous.
func (p *Plan) ResponsesAt(method string, u *url.URL) (found []ResponseOf) {
	least := 0
	bases := map[[2]string]bool{}
	for _, op := range p.siblings {
		base := p.BaseOf(op)
		if op.Method != method || base == nil {
			continue
		}
		key := [2]string{base.Scheme, base.Host}
		same, known := bases[key]
		if !known {
			same = origin.Same(base, u)
			bases[key] = same
		}
		rest, below := job.Below(base, u)
		if !same || !below {
			continue
		}
		args, variables, ok := op.Match(rest, u.Query())
		switch {
		case !ok || len(found) > 0 && variables > least:
			continue
		case len(found) > 0 && variables < least:
			found = found[:0]
		}
		least = variables
		found = append(found, ResponseOf{op, args})
	}
	return found
}
