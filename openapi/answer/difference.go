package answer

import (
	"mime"
	"slices"
	"strconv"
	"strings"

	"drawbridge/openapi/drift"
	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/mediatype"
)

// differences returns how a JSON text differs from the shape of a response, of which it is the value at a pointer.
func differences(shape *jsonscan.Shape, text []byte, at string, info jsonscan.Info) (all []drift.Difference) {
	if m := info.Mismatch; m != nil {
		pointer, _ := drift.InShape(shape, at+jsonscan.PointerAt(text, m.Offset))
		all = append(all, drift.Difference{Kind: drift.AnswerType, Pointer: pointer, Declared: drift.Type(m.Want, m.Integer), Got: m.Got.String()})
	}
	if m := info.Missing; m != nil {
		pointer, _ := drift.InShape(shape, at+jsonscan.PointerAt(text, m.Offset)+jsonscan.PointerTo(m.Name))
		all = append(all, drift.Difference{Kind: drift.AnswerMissing, Pointer: pointer})
	}
	return all
}

// declared is what a document declares of the responses of one operation, to be compared with what comes. The zero value accepts
// everything.
type declared struct {
	statuses string // two bytes each: 404, or 4 for the range 4XX; "" if there are none, or a default
	listed   string // the same beside a default
	media    []string
}

const (
	// maxDeclared is the maximum number of statuses and of media types that are compared; with more, everything is accepted.
	maxDeclared = 64
	// longestMedia is the maximum size of a media type in bytes.
	longestMedia = 100
)

// declared compiles the statuses and media types of responses. Equal ones share their bytes.
func (c *Compiler) declared(d *Declaration) (all declared) {
	var codes []byte
	open := false
	for _, s := range d.Statuses {
		code, err := strconv.ParseUint(strings.TrimSuffix(s.Code, "XX"), 10, 10)
		if err != nil { // default, or none
			open = true
			continue
		}
		codes = append(codes, byte(code>>8), byte(code))
	}
	if len(codes) <= 2*maxDeclared {
		all.listed = c.share(string(codes))
	}
	if !open {
		all.statuses = all.listed
	}
	if len(d.MediaTypes) <= maxDeclared {
		for _, media := range d.MediaTypes {
			all.media = append(all.media, c.share(media))
		}
	}
	return all
}

// share returns an equal text that the plans share.
func (c *Compiler) share(s string) string {
	if s == "" {
		return ""
	}
	known, ok := c.texts.Load(s)
	if !ok {
		s = strings.Clone(s)
		known, _ = c.texts.LoadOrStore(s, s)
	}
	shared, _ := known.(string)
	return shared
}

// infrastructure are statuses below 500 that proxies and frameworks answer for any operation, so that documents don't declare them.
var infrastructure = []int{401, 403, 407, 408, 421, 425, 429, 431}

// Undeclared returns how a response differs from the statuses and media types that the document declares; false if it does not. A
// status of 5xx, and one that proxies answer, is no difference, nor is the media type of a failure. media is that of the response's only
// part, "" if it has several or none.
func (p *Plan) Undeclared(status int, media string) (drift.Difference, bool) {
	if !p.declared.hasStatus(status) {
		return drift.Difference{Kind: drift.AnswerStatus, Got: strconv.Itoa(status)}, true
	}
	if status < 200 || status >= 300 || media == "" || p.declared.hasMedia(media) {
		return drift.Difference{}, false
	}
	if name, _, err := mime.ParseMediaType(media); err != nil || name != media || len(media) > longestMedia {
		media = drift.Any
	}
	return drift.Difference{Kind: drift.AnswerMediaType, Got: media}, true
}

func (d *declared) hasStatus(status int) bool {
	if d.statuses == "" || status >= 500 || slices.Contains(infrastructure, status) {
		return true
	}
	for i := 0; i < len(d.statuses); i += 2 {
		if code := int(d.statuses[i])<<8 | int(d.statuses[i+1]); code == status || code == status/100 {
			return true
		}
	}
	return false
}

// hasMedia reports whether a media type is declared, by itself or in a range. JSON is JSON, whatever its label.
func (d *declared) hasMedia(media string) bool {
	if len(d.media) == 0 || mediatype.IsGeneric(media) {
		return true
	}
	for _, known := range d.media {
		if known == media || mediatype.IsJSON(known) && mediatype.IsJSON(media) || mediatype.IsGeneric(known) {
			return true
		}
		if prefix, ok := strings.CutSuffix(known, "*"); ok && strings.HasPrefix(media, strings.TrimSuffix(prefix, "*/")) {
			return true
		}
	}
	return false
}

// Statuses returns the statuses that the document declares, and of a range the first ones. It is nil if the document declares no successful
// one: a default that stands alone may be any, and beside others it usually describes failures.
func (p *Plan) Statuses() (all []int) {
	defer func() {
		if !slices.ContainsFunc(all, func(status int) bool { return status >= 200 && status < 300 }) {
			all = nil
		}
	}()
	for i := 0; i < len(p.declared.listed); i += 2 {
		code := int(p.declared.listed[i])<<8 | int(p.declared.listed[i+1])
		if code >= 100 {
			all = append(all, code)
			continue
		}
		for n := range statusesOfRange {
			all = append(all, 100*code+n)
		}
	}
	return all
}

// statusesOfRange is the number of registered statuses that a range stands for (RFC 9110 section 15).
const statusesOfRange = 32

// Bodiless reports whether the document declares responses, and no successful one with content.
func (p *Plan) Bodiless() bool { return p.declared.statuses != "" && len(p.declared.media) == 0 }
