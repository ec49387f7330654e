package gateway

import (
	"fmt"
	"strings"
)

// maxForeignText is the most bytes of a title or description in a form of a document.
const maxForeignText = 300

// foreignWords holds what a document says to a user to less than what a rule may say: it is shown without anything unseen, asks for
// no secrets, also not in the words around a field, and leads nowhere (S8). The error tells what it can't say.
func (in *input) foreignWords() error {
	if err := foreignText("the message", in.message); err != nil {
		return &inputError{key: ".message", err: err}
	}
	if in.form == nil {
		return nil
	}
	in.form.written = nil // it is made anew of its fields
	for i := range in.form.fields {
		f := &in.form.fields[i]
		words := []*string{&f.title, &f.description}
		for j := range f.options {
			words = append(words, &f.options[j].title)
		}
		for _, text := range words {
			if *text == "" {
				continue
			}
			if err := foreignText(fmt.Sprintf("the field %q", f.name), *text); err != nil {
				return err
			}
			*text = shownText(*text, maxForeignText)
		}
	}
	return nil
}

func foreignText(what, text string) error {
	lower := strings.ToLower(text)
	switch {
	case secretWords(text):
		return fmt.Errorf("%s speaks of a secret, for which a document must not ask a user", what)
	case strings.Contains(lower, "://") || strings.Contains(lower, "www."):
		return fmt.Errorf("%s has a URL, to which a document must not send a user", what)
	}
	return nil
}
