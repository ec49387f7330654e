package elicit

import (
	"fmt"
	"strings"
)

// maxUntrustedText limits a title or description in a form that comes from a document, in bytes.
const maxUntrustedText = 300

// limitUntrusted restricts text from a document more than text from the configuration: it is shown without invisible
// characters, mentions no secrets and has no URL (S8). The error names the text that can't be shown.
func (q *question) limitUntrusted() error {
	if err := checkUntrusted("the message", q.message); err != nil {
		return &InputError{Key: ".message", err: err}
	}
	if q.form == nil {
		return nil
	}
	q.form.configured = nil // the schema is made of the fields, whose text is limited
	for i := range q.form.fields {
		f := &q.form.fields[i]
		words := []*string{&f.title, &f.description}
		for j := range f.options {
			words = append(words, &f.options[j].title)
		}
		for _, text := range words {
			if *text == "" {
				continue
			}
			if err := checkUntrusted(fmt.Sprintf("the field %q", f.name), *text); err != nil {
				return err
			}
			*text = ShownText(*text, maxUntrustedText)
		}
	}
	return nil
}

func checkUntrusted(what, text string) error {
	lower := strings.ToLower(text)
	switch {
	case mentionsSecret(text):
		return fmt.Errorf("%s speaks of a secret, for which a document must not ask a user", what)
	case strings.Contains(lower, "://") || strings.Contains(lower, "www."):
		return fmt.Errorf("%s has a URL, to which a document must not send a user", what)
	}
	return nil
}
