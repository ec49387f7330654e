package deliver

import (
	"slices"
	"time"

	"drawbridge/config"
	"drawbridge/gateway/plan"
	"drawbridge/gateway/projection"
	"drawbridge/gateway/render"
	"drawbridge/gateway/tokenizer"
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

// waysAfterProjection returns the ways to what a projection has left out of a response of size bytes, in words.
func (w *result) waysAfterProjection(a *projection.Answer, size int) (ways []string) {
	if p := w.plan.Projection; len(a.Cuts) > 0 && p != nil {
		ways = append(ways, w.wayBySelection()...)
		if p.Smaller != "" {
			ways = append(ways, p.Smaller)
		}
	}
	l := w.plan.Links
	if uri := w.wholeURI(len(a.Cuts) > 0 || l != nil && l.Over > 0 && size > l.Over); uri != "" {
		ways = append(ways, "read the resource "+uri)
	}
	return ways
}

// wayBySelection returns the way to a smaller response by a list of its fields, in words, if the call can have one and has none.
func (w *result) wayBySelection() []string {
	name := ""
	switch p := w.plan.Projection; {
	case w.inv.Fields != nil:
	case w.inv.Via != "":
		name = "select"
	case p != nil && p.Argument:
		name = plan.SelectArgument
	}
	if name == "" {
		return nil
	}
	return []string{"name the fields or elements that you need in " + name + ", such as items[0:20].id"}
}

// waysWithoutProjection returns the ways to a response that can't be projected, in words: a smaller one, or all of it as a resource.
func (w *result) waysWithoutProjection() (ways []string) {
	if smaller := w.plan.Projection.Smaller; smaller != "" {
		ways = append(ways, smaller)
	}
	if uri := w.wholeURI(true); uri != "" {
		ways = append(ways, "read the resource "+uri)
	}
	return ways
}

// waysAfterTruncation returns the ways to the rest of a truncated response, in words. A URI of more than most tokens is left out.
func (w *result) waysAfterTruncation(parts []answer.Part, most int) (ways []string) {
	ways = w.wayBySelection()
	if smaller := w.plan.Smaller(); smaller != "" {
		ways = append(ways, smaller)
	}
	if slices.ContainsFunc(parts, func(p answer.Part) bool { return p.Events > 0 }) {
		return ways // a stream that was cut off does not end at the same place again
	}
	if uri, lasts := w.rereadURI(); uri != "" && tokenizer.Count([]byte(uri)) <= most {
		ways = append(ways, "read the resource "+uri+lasts)
	}
	return ways
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
