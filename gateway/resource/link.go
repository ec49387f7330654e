package resource

import (
	"bytes"
	"strings"
	"time"

	"drawbridge/gateway/call"
	"drawbridge/gateway/deliver"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/plan"
	"drawbridge/openapi/text"
)

// ToRead returns the plan that reads a URI for a caller, and the arguments of its call: of a resource, or of the call that a
// link refers to. It returns nil if there is none. A fragment, which names a part of the response, is ignored.
func (e *View) ToRead(uri, principal string) (p *plan.Plan, args []byte) {
	uri, _, _ = strings.Cut(uri, "#")
	handle, isLink := strings.CutPrefix(uri, deliver.LinkScheme)
	if !isLink {
		return e.Resources.Find(uri)
	}
	if len(uri) > deliver.MaxLink {
		return nil, nil
	}
	payload, _, err := e.Links.Open(handle, time.Now(), principal)
	if err != nil {
		return nil, nil
	}
	tool, args, _ := bytes.Cut(payload, []byte{'\n'})
	if p = call.PlanOf(e.Tool(string(tool))); p == nil || !p.Safe || p.Elicitation != nil {
		return nil, nil
	}
	return p, args
}

// notFound returns the error for a URI that can't be read, with its own text for links.
func notFound(req *mcp.Request, uri string) *mcp.Error {
	denied := mcp.ResourceNotFound(req.Family, text.Truncate(uri, MaxShownURI))
	if strings.HasPrefix(uri, deliver.LinkScheme) {
		denied.Message = "resource not found: a link is good for a limited time, and for the caller that it was given to; call its tool again"
	}
	return denied
}
