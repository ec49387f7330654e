package answer

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/mediatype"
)

// Plan reads the responses of one operation. It is immutable and safe for concurrent use.
type Plan struct {
	head         bool     // the method is HEAD
	success      expected // of status 2xx
	unexpected   expected // of failures and of the parts of a multipart response: nothing
	readableHTML bool
	neverJSON    bool // the document declares responses, and none as JSON
	neverText    bool // nor as text
	mayBeHTML    bool // HTML is among the media types of successful responses, or a range that includes it
	meanings     []meaning
	headers      []declaredHeaders
	redirects    uint8 // set of the statuses that the document declares, see Redirects
	declared     declared
	buffers      *buffers
}

// expected is a document's declaration of a response.
type expected struct {
	json    bool            // JSON is among the media types
	media   string          // the only media type; "" if there are several or none
	shape   *jsonscan.Shape // nil without output schema
	wrapped bool            // the output schema has the response under "result"
	// others are the media types besides that of shape.
	others []string
}

// isString reports whether the output schema has strings under "result", so that a text fits it.
func (e *expected) isString() bool {
	return e.wrapped && e.shape.Kinds&jsonscan.Of(jsonscan.String) != 0
}

// Declaration is a document's declaration of the responses of one operation.
type Declaration struct {
	Method string
	// MediaTypes are those of successful responses, without parameters.
	MediaTypes []string
	// Shape is that of a successful JSON response as received; nil without output schema. ShapeType is the member of
	// MediaTypes that it belongs to. If Wrapped is set, the output schema has the response under "result".
	Shape     *jsonscan.Shape
	Wrapped   bool
	ShapeType string
	// Statuses are all declared statuses, in the document's order.
	Statuses []Status
}

// maxOthers is the maximum number of media types that are kept besides that of the shape.
const maxOthers = 6

// Compiler makes the plans of one API, which share buffers and texts. It is safe for concurrent use.
type Compiler struct {
	readableHTML bool
	buffers      *buffers // apart, since the plans keep it: a pointer into the compiler would keep the maps, and their keys the document
	cleaned      sync.Map // description → its cleaned text
	texts        sync.Map // cleaned text → the same, shared
	headers      sync.Map // joined header names → the same names, shared
}

// NewCompiler returns a compiler. If readableHTML is set, pages are reduced to their visible text; those of failures
// always are.
func NewCompiler(readableHTML bool) *Compiler {
	return &Compiler{readableHTML: readableHTML, buffers: new(buffers)}
}

// Compile makes the plan of an operation. It keeps no string of the declaration.
func (c *Compiler) Compile(d Declaration) *Plan {
	p := &Plan{
		head: d.Method == http.MethodHead, readableHTML: c.readableHTML, buffers: c.buffers,
		meanings: c.meanings(d.Statuses), headers: c.declaredHeaders(d.Statuses), redirects: redirectsOf(d.Statuses),
		declared: c.declared(&d),
	}
	p.success.json = slices.ContainsFunc(d.MediaTypes, mediatype.IsJSON)
	p.neverJSON = len(d.MediaTypes) > 0 && !slices.ContainsFunc(d.MediaTypes, func(media string) bool {
		return mediatype.CanBeJSON(media) || mediatype.IsSequential(media)
	})
	p.neverText = p.neverJSON && !slices.ContainsFunc(d.MediaTypes, func(media string) bool {
		return !mediatype.IsBinary(media) || mediatype.IsText(media) || mediatype.IsGeneric(media)
	})
	p.mayBeHTML = slices.ContainsFunc(d.MediaTypes, func(media string) bool { return mediatype.IsHTML(media) || media == "text/*" || media == "*/*" })
	if len(d.MediaTypes) == 1 && !mediatype.IsRange(d.MediaTypes[0]) {
		p.success.media = strings.Clone(d.MediaTypes[0])
	}
	if d.Shape == nil {
		return p
	}
	p.success.shape, p.success.wrapped = d.Shape, d.Wrapped
	for _, media := range d.MediaTypes {
		if media != d.ShapeType && !mediatype.IsJSON(media) && !mediatype.IsRange(media) && len(p.success.others) < maxOthers {
			p.success.others = append(p.success.others, strings.Clone(media))
		}
	}
	return p
}

// Shape returns the shape of a successful JSON response as received; nil if there is no output schema. It must not be
// modified.
func (p *Plan) Shape() *jsonscan.Shape { return p.success.shape }

// NeverJSON reports whether the document declares media types of successful responses, and none of them is JSON.
func (p *Plan) NeverJSON() bool { return p.neverJSON }

// NeverText reports whether the document declares media types of successful responses, and all of them are of binary data.
func (p *Plan) NeverText() bool { return p.neverText }

// MediaType returns the media type of successful responses if the document declares exactly one, without parameters;
// otherwise "".
func (p *Plan) MediaType() string { return p.success.media }

// meaningBytes is the memory of a meaning in addition to its text, which is shared.
const meaningBytes = 24

// mediaBytes is the memory of a media type in addition to its text, which is shared.
const mediaBytes = 16

// Size estimates the memory of the plan in bytes.
func (p *Plan) Size() int { return meaningBytes*len(p.meanings) + mediaBytes*len(p.declared.media) }

// AppendFingerprint appends a text that differs if the document declares other media types, redirects or failures.
func (p *Plan) AppendFingerprint(dst []byte) []byte {
	dst = fmt.Appendf(dst, "type %q\nredirects %b\n", p.MediaType(), p.redirects)
	for _, m := range p.meanings {
		dst = fmt.Appendf(dst, "%d means %q\n", m.code, m.text)
	}
	return dst
}
