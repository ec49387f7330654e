package redact

import (
	"strings"

	"drawbridge/openapi/answer"
)

// Redactor takes the gateway's own secrets out of the answers of one call: those of the configuration, and those that were sent
// in this call alone. It is a value and costs nothing to make.
type Redactor struct {
	Configured *Configured // nil if the API has no secrets
	Sent       *Forms      // nil if no token or identity was sent
	Kept       *Kept       // what stays in an error; nil for no URL and no address
}

// Part takes what the gateway attached to the request out of a part of the answer, and reports whether there was any.
func (r Redactor) Part(p *answer.Part) (found bool) {
	if r.Configured != nil && r.Configured.forms != nil {
		found = r.Configured.forms.Part(p)
	}
	if r.Sent != nil {
		found = r.Sent.Part(p) || found
	}
	return found
}

// Text returns a short text of the service without what the gateway attached to the request. Secrets that may be words stay.
func (r Redactor) Text(text string) string {
	if r.Configured != nil {
		text = r.Configured.forms.Text(text)
	}
	return r.Sent.Text(text)
}

// All returns a text of an error without what the gateway attached to the request, however short.
func (r Redactor) All(text string) string { return r.Sent.Text(r.Configured.All(text)) }

// Longest returns the length of the longest secret that Error finds, in bytes. A text that was cut must have so many bytes more than are
// shown.
func (r Redactor) Longest() int {
	longest := max(r.Sent.longest(), Margin)
	if r.Configured != nil {
		longest = max(longest, r.Configured.longest)
	}
	return longest
}

// Error takes what the gateway attached to the request, however short, out of the beginning of an error that the service returned; cut
// says that more of it follows. Services in trouble show the request that they got, and with it the credential; and their own
// secrets, addresses and stacks (P7).
func (r Redactor) Error(text string, cut bool) string {
	text = r.All(text)
	if less := errorKeeping(text, r.Kept); less != text {
		text = r.All(less) // escapes that stood in a secret may be decoded now
	}
	if cut {
		// The last bytes may be the beginning of a secret, or of a character.
		text = strings.ToValidUTF8(text[:max(0, len(text)-r.Longest())], "")
	}
	return text
}
