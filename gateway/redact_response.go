package gateway

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"drawbridge/config"
	"drawbridge/gateway/redact"
	"drawbridge/openapi/answer"
	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/truncate"
)

// redacted stands in the place of a secret. In JSON it can stand where a part of a string stands.
const redacted = "[redacted]"

// credentialRedactor finds the API's credential in what its service answers with success: some services show the request that they
// got, or the settings that they run with. The credential is the gateway's, and the caller is another party. It looks
// at text and JSON in the forms in which a service may write a secret down; not into pictures, sound and other bytes,
// which can't be changed without breaking them. It is immutable.
type credentialRedactor struct{ forms []secretForm }

// secretForm is one form of a secret. The probe is a part of it that begins with a byte that is rare in JSON, so that
// looking for it is cheap: 256 KiB take about 10 µs, and at most some 130 µs.
type secretForm struct {
	text  []byte
	probe []byte
	at    int // where in text the probe is
}

const (
	// A secret shorter than this may well be a word of the answer: a password "test" would garble what has
	// nothing to do with it.
	shortestSecret = 8
	// The longest text that is looked for with vector instructions.
	longestProbe = 32
)

// newCredentialRedactor returns nil where there is nothing to look for.
func newCredentialRedactor(credentials ...*config.Credential) *credentialRedactor {
	e := &credentialRedactor{}
	for _, c := range credentials {
		if c == nil {
			continue
		}
		for _, secret := range secretsOf(c) {
			e.add(secret)
			if c.Type == config.CredentialBasic || c.ClientAuth == config.ClientSecretBasic {
				e.add(base64.StdEncoding.EncodeToString(basicPair(c, secret)))
			}
		}
	}
	if len(e.forms) == 0 {
		return nil
	}
	return e
}

// newSentCredentialRedactor finds tokens and identities that were sent in one call; nil where there are none. It is made for each
// such call, so it must be cheap.
func newSentCredentialRedactor(values []string) *credentialRedactor {
	if len(values) == 0 {
		return nil
	}
	e := &credentialRedactor{forms: make([]secretForm, 0, len(values))}
	for _, value := range values {
		if len(value) < shortestSecret || strings.ContainsFunc(value, respelt) {
			e.add(value)
			continue
		}
		// As most tokens are: every writer writes them in one way. They begin like all others, so the probe is at the end.
		from := max(0, len(value)-longestProbe)
		at := from + rarest(value[from:len(value)-shortestSecret+1])
		e.forms = append(e.forms, secretForm{text: []byte(value), probe: []byte(value[at:]), at: at})
	}
	return e
}

// respelt tells whether some writer of URLs or JSON has another spelling for a character.
func respelt(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '.' && r != '_' && r != '~'
}

// longest returns the length of the longest form, in bytes; e may be nil.
func (e *credentialRedactor) longest() (n int) {
	if e == nil {
		return 0
	}
	for i := range e.forms {
		n = max(n, len(e.forms[i].text))
	}
	return n
}

// add adds the spellings of a secret.
func (e *credentialRedactor) add(secret string) {
	if len(secret) < shortestSecret {
		return
	}
	for _, form := range spellings(secret) {
		if len(form) < shortestSecret || slices.ContainsFunc(e.forms, func(known secretForm) bool { return string(known.text) == form }) {
			continue
		}
		at := rarest(form[:len(form)-shortestSecret+1])
		e.forms = append(e.forms, secretForm{text: []byte(form), probe: []byte(form[at:min(len(form), at+longestProbe)]), at: at})
	}
}

// rarest returns where the byte stands that is rarest in JSON.
func rarest(text string) int {
	const common = ` "e,:atino0r1s2l3dc4u5m6h7p8g9byf.wkv-{}/_xjzq[]=+` // the most common first; capitals are rarer than all of these
	best, rank := 0, -1
	for i := range len(text) {
		r := strings.IndexByte(common, text[i])
		if r < 0 {
			r = len(common)
		}
		if r > rank {
			best, rank = i, r
		}
	}
	return best
}

// in tells whether the form stands in data.
func (e *secretForm) in(data []byte) bool {
	for from := 0; ; {
		i := bytes.Index(data[from:], e.probe)
		if i < 0 {
			return false
		}
		if start := from + i - e.at; start >= 0 && bytes.HasPrefix(data[start:], e.text) {
			return true
		}
		from += i + 1
	}
}

// hide takes the secrets out of a part and tells whether there were any. A part whose JSON would be broken by that,
// because a secret is a number and stands in one, becomes a text.
func (e *credentialRedactor) hide(p *answer.Part) (found bool) {
	p.Drift, p.Field, p.File = e.hidden(p.Drift), e.hidden(p.Field), e.hidden(p.File) // they speak of the answer in its own words
	if p.Kind != answer.JSON && p.Kind != answer.Text {
		return false
	}
	for i := range e.forms {
		if form := &e.forms[i]; form.in(p.Data) {
			p.Data, found = bytes.ReplaceAll(p.Data, form.text, []byte(redacted)), true
		}
	}
	if found && p.Kind == answer.JSON {
		if _, err := jsonscan.Scan(p.Data, jsonscan.Options{}); err != nil {
			p.Kind = answer.Text
		}
	}
	return found
}

// hidden returns a short text without the secrets; e may be nil.
func (e *credentialRedactor) hidden(text string) string {
	if e == nil || text == "" {
		return text
	}
	for i := range e.forms {
		text = strings.ReplaceAll(text, string(e.forms[i].text), redacted)
	}
	return text
}

// sentSecrets finds what this call sent of tokens and identities; nil: nothing. What is sent is known when there is an answer.
func (c *call) sentSecrets() *credentialRedactor {
	if c.sent != nil && c.sentRedactor == nil {
		c.sentRedactor = newSentCredentialRedactor(c.sent.Reveal())
	}
	return c.sentRedactor
}

// hide takes what the gateway attached to the request out of a part of the answer, and tells whether there was any.
func (c *call) hide(p *answer.Part) (found bool) {
	if c.plan.credentialRedactor != nil {
		found = c.plan.credentialRedactor.hide(p)
	}
	if e := c.sentSecrets(); e != nil {
		found = e.hide(p) || found
	}
	return found
}

// hidden returns a short text of the service without what the gateway attached to the request.
func (c *call) hidden(text string) string {
	return c.sentSecrets().hidden(c.plan.credentialRedactor.hidden(text))
}

// longestSecret is the length of the longest form of a secret that refusal knows, in bytes.
func (c *call) longestSecret() int {
	return max(c.plan.longestSecret, c.sentSecrets().longest(), redact.Margin)
}

// refusal takes what the gateway attached to the request, however short, out of the beginning of what the service says; cut
// tells that more of it follows. Services in trouble show the request that they got, and with it the credential; and their own
// secrets, where they stand, and their stack (P7).
func (c *call) refusal(body []byte, cut bool) string {
	text := c.unsent(string(body))
	if less := redact.Error(text); less != text {
		text = c.unsent(less) // escapes may be read now that stood in one
	}
	if cut {
		// The last bytes may be the beginning of a secret, or of a character.
		text = strings.ToValidUTF8(text[:max(0, len(text)-c.longestSecret())], "")
	}
	return text
}

// unsent returns a text of an error without what the gateway attached to the request.
func (c *call) unsent(text string) string {
	if c.plan.redact != nil {
		text = c.plan.redact.Replace(text)
	}
	return c.sentSecrets().hidden(text)
}

// summary says in a few words what a JSON text holds.
func summary(data []byte) string {
	const most = 140 // bytes of names
	switch kind := jsonscan.KindOf(data); kind {
	case jsonscan.Array:
		n := 0
		for range jsonscan.Elements(data) {
			n++
		}
		if n == 1 {
			return "an array of 1 element"
		}
		return fmt.Sprintf("an array of %d elements", n)
	case jsonscan.Object:
		names, n := "", 0
		for name := range jsonscan.Members(data) {
			shown := truncate.Bytes(strings.ToValidUTF8(string(name), "\uFFFD"), 40)
			if len(names)+len(shown) > most {
				names += " and more"
				break
			}
			if names != "" {
				names += ", "
			}
			names += shown
			n++
		}
		switch n {
		case 0:
			return "an empty object"
		case 1:
			return "an object with the member " + names
		}
		return "an object with the members " + names
	case jsonscan.Null:
		return "null"
	case jsonscan.Bool, jsonscan.Number, jsonscan.String:
		return "a " + kind.String()
	}
	return "nothing"
}
