package render

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"drawbridge/openapi"
	"drawbridge/openapi/answer"
	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/text"
)

// Unended is the note on a response whose end can't be distinguished from an interruption (P2, P5).
const Unended = "The service gave this answer no length and ended it with its connection: if it was cut off, that can't be told."

// UndeclaredHTML is the note on a page that the document does not declare: services that require a login, and proxies
// in front of them, return one with status 200.
const UndeclaredHTML = "The service answered with a web page, which its document does not declare. If it is a page to sign in on or of an error, " +
	"the call has failed."

// IsUnended reports whether a response may be incomplete without any sign of it, so that its result needs a note.
func IsUnended(parts []answer.Part, resp *http.Response) bool {
	if len(parts) == 0 {
		return !answer.Delimited(resp)
	}
	return slices.ContainsFunc(parts, func(p answer.Part) bool { return p.MaybeTruncated })
}

// CutOff returns the note on a stream that had not ended, so that its events are not taken for all there are (P5).
func CutOff(events int) string {
	if events == 1 {
		return "The stream of events had not ended when the time for this call was up: this is the first event, more may follow."
	}
	return fmt.Sprintf("The stream of events had not ended when the time for this call was up: these are the first %d events, more may follow.", events)
}

// Limits of the members that Unsent names.
const (
	maxListed      = 20  // members in a note
	maxListedBytes = 160 // of one of them
)

// Unsent returns the note on members of a request body that were not sent because they are null, or empty, and the
// schema or the format of the body does not allow that value. pointers are JSON Pointers into the arguments. The note
// is "" if there are none.
func Unsent(pointers []string) string {
	if len(pointers) == 0 {
		return ""
	}
	return "Not sent in the request body, because null or an empty value is not allowed there: " + someOf(pointers) + "."
}

// Mistyped returns the note on members of a request body that were sent although the document declares another type, or "".
func Mistyped(faults []openapi.Fault) string {
	if len(faults) == 0 {
		return ""
	}
	all := make([]string, len(faults))
	for i, f := range faults {
		all[i] = f.Pointer + " (" + f.Message + ")"
	}
	return "Sent although the document declares another type: " + someOf(all) + "."
}

// someOf lists the first of some texts, and tells how many there are more.
func someOf(texts []string) string {
	var b strings.Builder
	for i, one := range texts[:min(len(texts), maxListed)] {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(text.Truncate(strings.ToValidUTF8(one, "\uFFFD"), maxListedBytes))
	}
	if more := len(texts) - maxListed; more > 0 {
		fmt.Fprintf(&b, " and %d more", more)
	}
	return b.String()
}

// EmptyText describes a response without a body: its status, the location of the created resource, and, for a response
// to HEAD, which has nothing but headers, the headers. Other headers are up to [Headers] (E9), and those that it has
// included are not repeated. Secrets are removed from those that are shown.
func (r *Renderer) EmptyText(resp *http.Response) string {
	message := "The service answered " + StatusText(resp.StatusCode) + ", without a body."
	header := func(name string) {
		if value := resp.Header.Get(name); value != "" && !strings.Contains(r.Headers, " "+name+": ") {
			message += " " + name + ": " + text.Truncate(strings.ToValidUTF8(r.Redactor.Text(value), "\uFFFD"), 200) + "."
		}
	}
	if u, err := url.Parse(resp.Header.Get("Location")); err == nil && u.Path != "" && !strings.Contains(r.Headers, " Location: ") {
		message += " Location: " + text.Truncate(u.EscapedPath(), 200) + "."
	}
	if resp.Request != nil && resp.Request.Method == http.MethodHead {
		header("Content-Type")
		header("Content-Length")
		header("Last-Modified")
	}
	return message
}

// shortText returns the text for a response whose bytes are given as structuredContent alone. A number, a boolean, null and a short string
// are shorter than any description of them.
func shortText(p answer.Part) string {
	const most = 64 // bytes of a string
	switch jsonscan.KindOf(p.Data) {
	case jsonscan.Object, jsonscan.Array:
	case jsonscan.Number, jsonscan.Bool, jsonscan.Null, jsonscan.String:
		if len(p.Data) <= most {
			return string(p.Data)
		}
	}
	where := "structuredContent"
	switch {
	case p.Drift != "" && !p.DuplicateName:
		where += ".unexpected"
	case p.Wrapped:
		where += ".result"
	}
	return "The answer is in " + where + ": " + Summary(p.Data) + "."
}
