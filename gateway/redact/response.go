package redact

import (
	"strings"

	"drawbridge/openapi/answer"
)

// Redactor removes the gateway's own secrets from the responses of one call: those of the configuration, and those that
// were sent in this call alone. Part and Text are for successful responses, in which a short secret may be an ordinary
// word and stays; All and Error are for errors, from which it is removed, too. A Redactor is a value and needs no
// allocation.
type Redactor struct {
	Configured *Configured // nil if the API has no secrets
	Sent       *Forms      // nil if no token or identity was sent
	Kept       *Kept       // the URLs and addresses that stay in an error; nil if none do
}

// Part removes the credentials that the gateway attached to the request from a part of the response, and reports
// whether there were any.
func (r Redactor) Part(p *answer.Part) (found bool) {
	if r.Configured != nil && r.Configured.forms != nil {
		found = r.Configured.forms.Part(p)
	}
	if r.Sent != nil {
		found = r.Sent.Part(p) || found
	}
	return found
}

// Text removes the credentials that the gateway attached to the request from a short text of the service. Secrets that
// may be words stay.
func (r Redactor) Text(text string) string {
	if r.Configured != nil {
		text = r.Configured.forms.Text(text)
	}
	return r.Sent.Text(text)
}

// All removes the credentials that the gateway attached to the request, however short, from the text of an error.
func (r Redactor) All(text string) string { return r.Sent.Text(r.Configured.All(text)) }

// Longest returns the length of the longest secret that Error finds, in bytes. A text that was cut must have that many
// more bytes than are shown.
func (r Redactor) Longest() int {
	longest := max(r.Sent.longest(), Margin)
	if r.Configured != nil {
		longest = max(longest, r.Configured.longest)
	}
	return longest
}

// Error removes the credentials that the gateway attached to the request, however short, from the beginning of an error
// that the service returned; cut means that the error is longer. A failing service may echo the request, and with it
// the credential; and show its own secrets, addresses and stack traces (P7).
func (r Redactor) Error(text string, cut bool) string {
	text = r.All(text)
	if cleaned := errorKeeping(text, r.Kept); cleaned != text {
		text = r.All(cleaned) // escapes within a secret may be decoded now
	}
	if cut {
		// The last bytes may be the beginning of a secret, or of a character.
		text = strings.ToValidUTF8(text[:max(0, len(text)-r.Longest())], "")
	}
	return text
}
