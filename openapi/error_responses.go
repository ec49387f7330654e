package openapi

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"drawbridge/openapi/schema"
)

// What an operation keeps of the answers that are no success.
const (
	maxMeanings = 40  // statuses; the documents that list more list them for all operations alike
	maxMeaning  = 200 // bytes of one text
)

// A meaning is what the document says of a status: code is 404, or 4 for the range 4XX.
type meaning struct {
	code uint16
	text string
}

// Redirects tells whether the document promises a redirect of this status, by itself or as one of 3XX. What it says by "default" it says of
// failures, as a rule.
func (o *Operation) Redirects(status int) bool {
	i := slices.Index(redirects[:], status)
	return i >= 0 && o.redirects&(1<<i) != 0
}

// redirects are the statuses that send a client elsewhere (RFC 9110 section 15.4).
var redirects = [...]int{http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect}

// Meaning returns what the document says of an answer with this status, in at most 200 bytes on one line, cleaned for
// reading (S8). It is "" where the document says nothing, or no more than the name of the status. What it says by
// "default" is said of everything, and left out.
func (o *Operation) Meaning(status int) string {
	text := ""
	for _, m := range o.meanings {
		switch int(m.code) {
		case status:
			return m.text
		case status / 100:
			text = m.text
		}
	}
	return text
}

// redirectsOf returns the set of [redirects] that answers promise.
func redirectsOf(answers []answer) (set uint8) {
	for _, a := range answers {
		for i, status := range redirects {
			if a.status == "3XX" || a.status == strconv.Itoa(status) {
				set |= 1 << i
			}
		}
	}
	return set
}

// meanings gathers them for an operation.
func (c *compiler) meanings(answers []answer) (all []meaning) {
	for _, a := range answers {
		code, err := strconv.ParseUint(strings.TrimSuffix(a.status, "XX"), 10, 10)
		if err != nil || len(a.status) != 3 || a.status[0] < '3' || a.status[0] > '5' || len(all) == maxMeanings {
			continue
		}
		text := c.meant(a.text())
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

// meant returns what is shown of a text. Many operations may share one, and to clean a long one takes a while.
func (c *compiler) meant(raw string) string {
	known, _ := c.means.Load(raw)
	if text, ok := known.(string); ok {
		return text
	}
	// Cleaned before it is cut: what is not shown must not take the place of what is.
	text := schema.Clean(strings.Join(strings.Fields(schema.Prose(raw, 0)), " "), maxMeaning)
	c.means.Store(raw, text)
	return text
}

// saysNothing tells whether a text says no more than the status does: "Not found.", "404 - Not Found", "Error".
func saysNothing(text string, code int) bool {
	letters := func(s string) string {
		return strings.Map(func(r rune) rune {
			if !unicode.IsLetter(r) {
				return -1
			}
			return unicode.ToLower(r)
		}, s)
	}
	switch said := letters(text); said {
	case "", "error", "errorresponse", "clienterror", "servererror", "unexpectederror", "failure", "failed", "defaultresponse":
		return true
	default:
		name := letters(http.StatusText(code))
		return said == name || said == name+"error" || said == name+"response"
	}
}
