package render

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"drawbridge/gateway/redact"
	"drawbridge/openapi/answer"
	"drawbridge/openapi/text"
)

// MaxErrorBody is the maximum size of an error response's body that is passed on, in bytes. Error pages can be large
// and rarely add information after the first page.
const MaxErrorBody = 8 << 10

// UpstreamError is a response with a status of 300 or more, or one whose body reports a failure, with the facts that
// its text needs.
type UpstreamError struct {
	API        string
	Response   *http.Response
	Meaning    string // the document's description of the status; "" if it has none
	Unfollowed string // why a redirect was not followed; "" if redirects are not followed at all
	Safe       bool   // the call can't have changed anything
	Owner      CredentialOwner
	Redactor   redact.Redactor
	Reported   bool   // the response has a status below 300, and its body reports a failure
	Said       string // text of the error that the operator's rule selects; "" for the body

	body   []byte
	lead   string // text of an error in JSON
	binary string // media type of a part that is not text
	short  bool   // body is only the beginning
}

// AddPart adds a part of the response's body.
func (e *UpstreamError) AddPart(part answer.Part) {
	switch {
	case part.Kind != answer.JSON && part.Kind != answer.Text:
		e.binary = orUnknown(part.MediaType)
		return
	case e.short:
		return
	case part.Kind == answer.JSON && e.lead == "":
		e.lead = leadOf(part, e.Redactor.Error)
	}
	if len(e.body) > 0 {
		e.body = append(e.body, '\n')
	}
	// The longest secret is added so that a secret at the cut is recognized.
	limit := MaxErrorBody + e.Redactor.Longest() - len(e.body)
	if e.short = len(part.Data) > limit; e.short {
		part.Data = part.Data[:max(0, limit)]
	}
	e.body = append(e.body, part.Data...)
}

// Text returns the text for the model: the service's message, the document's description of the status, and the next
// step to try. tooLarge means that the body was too large to be read.
func (e *UpstreamError) Text(tooLarge bool, now time.Time) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s answered %s", e.API, answeredStatus(e.Response))
	if e.Reported {
		b.WriteString(", and reports a failure")
	}
	if e.Said != "" {
		most := MaxErrorBody + e.Redactor.Longest()
		redacted := e.Redactor.Error(text.Prefix(e.Said, most), len(e.Said) > most)
		return b.String() + ": " + text.Truncate(redacted, MaxErrorBody) + "\n" + hint(e.Response, e.Safe, e.Owner, now)
	}
	redacted, short := e.Redactor.Error(string(e.body), e.short), e.short
	if limit := MaxErrorBody - len(e.lead); len(redacted) > limit {
		redacted, short = text.Prefix(redacted, limit), true
	}
	switch {
	case strings.TrimSpace(redacted) != "":
		b.WriteByte(':')
		if e.lead != "" {
			b.WriteByte(' ')
			b.WriteString(e.lead)
		}
		b.WriteByte('\n')
		b.WriteString(redacted)
		if short {
			fmt.Fprintf(&b, "… (only the first %d bytes are shown)", len(redacted))
		}
	case tooLarge:
		b.WriteString(", with a body that is too large.")
	case e.binary != "":
		fmt.Fprintf(&b, ", with a body that is no text (%s).", text.Truncate(strings.ToValidUTF8(e.binary, ""), 100))
	default:
		b.WriteString(", without a body.")
	}
	if e.Meaning != "" {
		fmt.Fprintf(&b, "\nThe API's document says of %d: %s", e.Response.StatusCode, e.Meaning)
	}
	b.WriteByte('\n')
	if e.Unfollowed != "" && e.Response.StatusCode < 400 {
		b.WriteString(redirectHint(e.Response, e.Unfollowed))
	} else {
		b.WriteString(hint(e.Response, e.Safe, e.Owner, now))
	}
	return b.String()
}
