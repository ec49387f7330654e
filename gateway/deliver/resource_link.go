package deliver

import (
	"slices"
	"time"

	"drawbridge/config"
	"drawbridge/gateway/render"
	"drawbridge/openapi/answer"
)

// LinkScheme is the scheme of a link's URI. A sealed handle follows: the call whose response the link refers to.
const LinkScheme = "drawbridge-link:"

// MaxLink is the maximum size in bytes of a link's URI. A call whose arguments make it longer is answered without links.
const MaxLink = 4 << 10

// configuredLink returns a link to the parts of the response, as the API configures links. It returns false if they must be
// returned inline: revisions before 2025-06-18 have no links; a truncated response, or one with supplementary text, could not be read
// again; and one that needed input from the user could not be read without asking again.
func (w *result) configuredLink(parts []answer.Part) (render.Result, bool) {
	l := w.plan.Links
	if l == nil || w.OfJob || w.inv.Caller.Protocol.Revision < "2025-06-18" || w.note != "" || w.plan.Elicitation != nil {
		return render.Result{}, false
	}
	size, bytes := 0, false
	for _, p := range parts {
		if p.Events > 0 {
			return render.Result{}, false
		}
		size += len(p.Data)
		bytes = bytes || p.Kind != answer.JSON && p.Kind != answer.Text
	}
	if (l.Over == 0 || size <= l.Over) && (!l.Binary || !bytes) {
		return render.Result{}, false
	}
	uri, lasts := w.linkURI()
	if uri == "" {
		return render.Result{}, false
	}
	return w.renderer().Link(uri, lasts, parts), true
}

// linkURI returns a URI at which the caller can read the response, and a phrase for its lifetime: that of the operation's resource
// if it expresses all arguments, else one with a handle. It returns "" if the URI would be too long.
func (w *result) linkURI() (uri, lasts string) {
	args := w.plan.Arguments.Given(w.Arguments())
	if r := w.plan.Resource; r != nil && r.ExpressesAll(args) {
		if uri, ok := render.ExpandURI(&r.URI, args); ok {
			return uri, ""
		}
	}
	payload := slices.Concat([]byte(w.plan.Tool.Name), []byte{'\n'}, args)
	ttl := w.linkTTL()
	uri = LinkScheme + w.links.Seal(payload, time.Now().Add(ttl), w.inv.Caller.ID)
	if len(uri) > MaxLink {
		return "", ""
	}
	return uri, " within " + config.Duration(ttl).String()
}

// wholeURI returns a URI at which the client can read the whole answer, or "". A sealed link is long: it is made
// only if sealed is set.
func (w *result) wholeURI(sealed bool) string {
	if w.links == nil || w.plan.Elicitation != nil || w.inv.Caller.Protocol.Revision < "2025-06-18" {
		return ""
	}
	if r := w.plan.Resource; w.plan.Links != nil && (sealed || r != nil && r.ExpressesAll(w.Arguments())) {
		uri, lasts := w.linkURI()
		return uri + lasts
	}
	return ""
}
