package redact

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strings"

	"drawbridge/config"
	"drawbridge/openapi/answer"
	"drawbridge/openapi/jsonscan"
)

// Forms are secrets in the forms in which a service may repeat them in a successful response: some services echo the
// request, or show their settings. The secrets are the gateway's, and the caller is another party. Only text and JSON
// are searched; images, audio and other bytes can't be changed without breaking them. Forms are immutable; nil Forms
// find nothing.
type Forms struct{ all []secretForm }

// secretForm is one form of a secret. The probe is a part of it that begins with a byte that is rare in JSON, which
// makes the search cheap: 256 KiB take about 10 µs, and at most some 130 µs.
type secretForm struct {
	text  []byte
	probe []byte
	at    int // index of the probe in text
}

const (
	// shortestSecret is the length of the shortest secret that is searched for in successful responses. A shorter one
	// may well be an ordinary word: a password "test" would garble unrelated content.
	shortestSecret = 8
	// longestProbe is the length of the longest text that is searched for with vector instructions.
	longestProbe = 32
)

// newForms returns nil if there is nothing to search for.
func newForms(credentials []*config.Credential) *Forms {
	f := &Forms{}
	for _, c := range credentials {
		if c == nil {
			continue
		}
		for _, secret := range secretsOf(c) {
			f.add(secret)
			if c.Type == config.CredentialBasic || c.ClientAuth == config.ClientSecretBasic {
				f.add(base64.StdEncoding.EncodeToString(basicPair(c, secret)))
			}
		}
	}
	if len(f.all) == 0 {
		return nil
	}
	return f
}

// NewSent returns the forms of tokens and identities that were sent in one call, or nil. It runs for
// each such call, so it must be cheap.
func NewSent(values []string) *Forms {
	if len(values) == 0 {
		return nil
	}
	f := &Forms{all: make([]secretForm, 0, len(values))}
	for _, value := range values {
		if len(value) < shortestSecret || strings.ContainsFunc(value, needsEscape) {
			f.add(value)
			continue
		}
		// Most tokens consist of characters that no encoder escapes. Tokens share prefixes, so the probe is at the end.
		from := max(0, len(value)-longestProbe)
		at := from + rarest(value[from:len(value)-shortestSecret+1])
		f.all = append(f.all, secretForm{text: []byte(value), probe: []byte(value[at:]), at: at})
	}
	return f
}

// needsEscape reports whether an encoder of URLs or JSON may escape a character.
func needsEscape(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '.' && r != '_' && r != '~'
}

// longest returns the length of the longest form, in bytes.
func (f *Forms) longest() (n int) {
	if f == nil {
		return 0
	}
	for i := range f.all {
		n = max(n, len(f.all[i].text))
	}
	return n
}

// add adds the spellings of a secret.
func (f *Forms) add(secret string) {
	if len(secret) < shortestSecret {
		return
	}
	for _, form := range spellings(secret) {
		if len(form) < shortestSecret || slices.ContainsFunc(f.all, func(known secretForm) bool { return string(known.text) == form }) {
			continue
		}
		at := rarest(form[:len(form)-shortestSecret+1])
		f.all = append(f.all, secretForm{text: []byte(form), probe: []byte(form[at:min(len(form), at+longestProbe)]), at: at})
	}
}

// rarest returns the index of the byte that is rarest in JSON.
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

// in reports whether data contains the form.
func (f *secretForm) in(data []byte) bool {
	for from := 0; ; {
		i := bytes.Index(data[from:], f.probe)
		if i < 0 {
			return false
		}
		if start := from + i - f.at; start >= 0 && bytes.HasPrefix(data[start:], f.text) {
			return true
		}
		from += i + 1
	}
}

// Part removes the secrets from a part and reports whether there were any. If a secret is a number and its removal
// would break the JSON, the part becomes a text. f must not be nil.
func (f *Forms) Part(p *answer.Part) (found bool) {
	p.Drift, p.Field, p.File = f.Text(p.Drift), f.Text(p.Field), f.Text(p.File) // they quote the response
	if p.Kind != answer.JSON && p.Kind != answer.Text {
		return false
	}
	for i := range f.all {
		if form := &f.all[i]; form.in(p.Data) {
			p.Data, found = bytes.ReplaceAll(p.Data, form.text, []byte(Placeholder)), true
		}
	}
	if found && p.Kind == answer.JSON {
		if _, err := jsonscan.Scan(p.Data, jsonscan.Options{}); err != nil {
			p.Kind = answer.Text
		}
	}
	return found
}

// Text returns a short text without the secrets.
func (f *Forms) Text(text string) string {
	if f == nil || text == "" {
		return text
	}
	for i := range f.all {
		text = strings.ReplaceAll(text, string(f.all[i].text), Placeholder)
	}
	return text
}

// In reports whether data contains one of the secrets.
func (f *Forms) In(data []byte) bool {
	if f == nil {
		return false
	}
	for i := range f.all {
		if f.all[i].in(data) {
			return true
		}
	}
	return false
}
