package gateway

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"drawbridge/config"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/plan"
	"drawbridge/gateway/render"
	"drawbridge/openapi/answer"
	"drawbridge/openapi/truncate"
)

// linkScheme is the scheme of a link's URI. A sealed handle follows: the call whose response the link refers to.
const linkScheme = "drawbridge-link:"

// maxLink is the maximum size in bytes of a link's URI. A call whose arguments make it longer is answered without links.
const maxLink = 4 << 10

// answerWithLink responds with a link to the parts of the response. It returns false if they must be returned inline: revisions before
// 2025-06-18 have no links; a truncated response, or one with supplementary text, could not be read again; and one that needed
// input from the user could not be read without asking again.
func (c *call) answerWithLink(parts ...answer.Part) (done bool, err error) {
	l := c.plan.Links
	if c.req.Revision < "2025-06-18" || c.note != "" || c.plan.Elicitation != nil {
		return false, nil
	}
	size, bytes := 0, false
	for _, p := range parts {
		if p.Events > 0 {
			return false, nil
		}
		size += len(p.Data)
		bytes = bytes || p.Kind != answer.JSON && p.Kind != answer.Text
	}
	if (l.Over == 0 || size <= l.Over) && (!l.Binary || !bytes) {
		return false, nil
	}
	uri, lasts := c.linkURI()
	if uri == "" {
		return false, nil
	}
	r := c.renderer()
	return true, c.sendResult(r.Link(uri, lasts, parts))
}

// linkURI returns a URI at which the caller can read the response, and a phrase for its lifetime: that of the operation's resource
// if it expresses all arguments, else one with a handle. It returns "" if the URI would be too long.
func (c *call) linkURI() (uri, lasts string) {
	if r := c.plan.Resource; r != nil && r.ExpressesAll(c.args) {
		if uri, ok := render.ExpandURI(&r.URI, c.args); ok {
			return uri, ""
		}
	}
	payload := slices.Concat([]byte(c.plan.Tool.Name), []byte{'\n'}, c.args)
	ttl := c.plan.Links.TTL
	uri = linkScheme + c.r.links.Seal(payload, time.Now().Add(ttl), c.req.Principal)
	if len(uri) > maxLink {
		return "", ""
	}
	return uri, " within " + config.Duration(ttl).String()
}

// toRead returns the plan that reads a URI for a caller, and the arguments of its call: of a resource, or of the call that a
// link refers to. It returns nil if there is none. A fragment, which names a part of the response, is ignored.
func (e *endpoint) toRead(uri, principal string) (p *plan.Plan, args []byte) {
	uri, _, _ = strings.Cut(uri, "#")
	handle, isLink := strings.CutPrefix(uri, linkScheme)
	if !isLink {
		return e.resources.Find(uri)
	}
	if len(uri) > maxLink {
		return nil, nil
	}
	payload, _, err := e.links.Open(handle, time.Now(), principal)
	if err != nil {
		return nil, nil
	}
	tool, args, _ := bytes.Cut(payload, []byte{'\n'})
	if p = e.tool(string(tool)); p == nil || !p.Safe || p.Elicitation != nil {
		return nil, nil
	}
	return p, args
}

// notFound returns the error for a URI that can't be read, with its own text for links.
func notFound(req *mcp.Request, uri string) *mcp.Error {
	denied := req.ResourceNotFound(truncate.Bytes(uri, maxShownURI))
	if strings.HasPrefix(uri, linkScheme) {
		denied.Message = "resource not found: a link is good for a limited time, and for the caller that it was given to; call its tool again"
	}
	return denied
}
