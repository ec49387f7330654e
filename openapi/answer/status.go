package answer

import (
	"iter"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"drawbridge/openapi/schema"
)

const (
	maxStatuses = 40  // of one operation; documents that list more list them for all operations alike
	maxMeaning  = 200 // bytes of one text
)

// Status is a document's declaration of the responses of one status.
type Status struct {
	Code        string // "404", "4XX" or "DEFAULT"
	Description string
	Headers     iter.Seq[string] // names
}

// meaning is the description of a status: code is 404, or 4 for the range 4XX.
type meaning struct {
	code uint16
	text string
}

// Redirects reports whether the document declares a redirect of this status, by itself or as one of 3XX. A "default"
// response doesn't count: it usually describes failures.
func (p *Plan) Redirects(status int) bool {
	i := slices.Index(redirects[:], status)
	return i >= 0 && p.redirects&(1<<i) != 0
}

// redirects are the statuses that send a client to another URL (RFC 9110 section 15.4).
var redirects = [...]int{http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect}

// Meaning returns the description of responses with this status, cleaned (S8), on one line of at most 200 bytes. It is
// "" if the document has none, or one that only repeats the name of the status. That of "default" is left out, since it
// applies to every status.
func (p *Plan) Meaning(status int) string {
	text := ""
	for _, m := range p.meanings {
		switch int(m.code) {
		case status:
			return m.text
		case status / 100:
			text = m.text
		}
	}
	return text
}

// redirectsOf returns the set of declared [redirects].
func redirectsOf(statuses []Status) (set uint8) {
	for _, s := range statuses {
		for i, status := range redirects {
			if s.Code == "3XX" || s.Code == strconv.Itoa(status) {
				set |= 1 << i
			}
		}
	}
	return set
}

// meanings compiles the descriptions of redirects and failures.
func (c *Compiler) meanings(statuses []Status) (all []meaning) {
	for _, s := range statuses {
		code, err := strconv.ParseUint(strings.TrimSuffix(s.Code, "XX"), 10, 10)
		if err != nil || len(s.Code) != 3 || s.Code[0] < '3' || s.Code[0] > '5' || len(all) == maxStatuses {
			continue
		}
		text := c.clean(s.Description)
		if saysNothing(text, int(code)) {
			continue
		}
		// Documents repeat themselves: equal texts share their bytes.
		known, _ := c.texts.LoadOrStore(text, strings.Clone(text))
		if shared, ok := known.(string); ok {
			all = append(all, meaning{code: uint16(code), text: shared})
		}
	}
	return all
}

// clean returns a description for display. The result is cached, since operations share descriptions and cleaning a
// long one is slow.
func (c *Compiler) clean(raw string) string {
	known, _ := c.cleaned.Load(raw)
	if text, ok := known.(string); ok {
		return text
	}
	// Cleaned before it is cut, so that removed text takes no room.
	text := schema.Clean(strings.Join(strings.Fields(schema.Prose(raw, 0)), " "), maxMeaning)
	c.cleaned.Store(raw, text)
	return text
}

// saysNothing reports whether a text only repeats the name of the status: "Not found.", "404 - Not Found", "Error".
func saysNothing(text string, code int) bool {
	letters := func(s string) string {
		return strings.Map(func(r rune) rune {
			if !unicode.IsLetter(r) {
				return -1
			}
			return unicode.ToLower(r)
		}, s)
	}
	switch normalized := letters(text); normalized {
	case "", "error", "errorresponse", "clienterror", "servererror", "unexpectederror", "failure", "failed", "defaultresponse":
		return true
	default:
		name := letters(http.StatusText(code))
		return normalized == name || normalized == name+"error" || normalized == name+"response"
	}
}
