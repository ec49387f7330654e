package deliver

import (
	"fmt"
	"slices"
	"time"

	"drawbridge/gateway/render"
	"drawbridge/openapi/answer"
	"drawbridge/openapi/text"
)

// usualLinkTTL is how long a link is valid where the API does not configure links.
const usualLinkTTL = 10 * time.Minute

// binaryLink returns a link to a response of one binary part that is larger than the limit. Revisions before 2025-06-18 have no links: see
// linkBinary.
func (w *result) binaryLink(parts []answer.Part) (render.Result, bool) {
	if len(parts) != 1 || !isBinary(parts[0].Kind) || w.inv.Caller.Protocol.Revision < "2025-06-18" {
		return render.Result{}, false
	}
	if most := w.limits().Binary; most == 0 || len(parts[0].Data) <= most {
		return render.Result{}, false
	}
	uri, lasts := w.rereadURI()
	if uri == "" {
		return render.Result{}, false
	}
	return w.renderer().Link(uri, lasts, parts), true
}

// linkBinary returns the parts with sentences instead of binary ones that don't fit into a number of bytes with those before
// them. The sentences say where these parts can be read. An answer that can't be read again stays as it is.
func (w *result) linkBinary(parts []answer.Part, most int) []answer.Part {
	uri, lasts := w.rereadURI()
	if uri == "" {
		return parts
	}
	shown, used := slices.Clone(parts), 0
	for i := range shown {
		p := &shown[i]
		if !isBinary(p.Kind) {
			continue
		}
		if used+len(p.Data) <= most {
			used += len(p.Data)
			continue
		}
		at, what := uri, "The answer"
		if len(parts) > 1 {
			at, what = fmt.Sprintf("%s#%d", uri, i+1), fmt.Sprintf("Part %d of the answer", i+1)
		}
		if p.File != "" {
			what += fmt.Sprintf(" (%s)", text.Truncate(p.File, maxFieldName))
		}
		text := fmt.Sprintf("%s has %d bytes of %s, too many for this result. To get it, read the resource %s%s; the request is sent again then.",
			what, len(p.Data), mediaTypeOf(p), at, lasts)
		p.Kind, p.Data = answer.Text, []byte(text)
	}
	return shown
}

// mediaTypeOf returns the media type of a part for a sentence.
func mediaTypeOf(p *answer.Part) string {
	if p.MediaType == "" {
		return "unknown type"
	}
	return text.Truncate(p.MediaType, maxFieldName)
}

// rereadURI is linkURI for an answer whose request can be sent again, whether the API configures links or not. It returns "" for
// other answers: of unsafe methods, of jobs, and those that took input from the user.
func (w *result) rereadURI() (uri, lasts string) {
	if !w.plan.Safe || w.OfJob || w.plan.Elicitation != nil {
		return "", ""
	}
	return w.linkURI()
}

// binarySize returns the bytes of the parts that are neither JSON nor text.
func binarySize(parts []answer.Part) (n int) {
	for i := range parts {
		if isBinary(parts[i].Kind) {
			n += len(parts[i].Data)
		}
	}
	return n
}

// linkTTL returns how long links are valid.
func (w *result) linkTTL() time.Duration {
	if w.plan.Links != nil {
		return w.plan.Links.TTL
	}
	return usualLinkTTL
}
