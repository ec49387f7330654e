package config

import (
	"reflect"
	"strings"

	"go.yaml.in/yaml/v4"
)

// shorthand is a struct whose mapping has a shorter form: a word, or the value of one of its keys. The other keys have their defaults then.
type shorthand interface{ short() short }

// short is the shorter form of a mapping.
type short struct {
	words []word
	// value points to the field whose value replaces the mapping: a text, a word or a list. It is nil without one.
	value any
	// expects names the forms in messages. "" names them by the words, or the type of value, followed by "or a mapping".
	expects string
	// refuse returns the reason why a node can't be read as the value, "" for none. It may be nil.
	refuse func(n *yaml.Node) string
}

// word is a word that replaces a mapping. flag records it; it is nil for a word that means the defaults.
type word struct {
	text string
	flag *bool
}

// switchedOff is the shorter form of a section that true turns on with its defaults, and false turns off.
func switchedOff(off *bool) short { return short{words: []word{{"true", nil}, {"false", off}}} }

// stopped is the shorter form of a section that the word off turns off.
func stopped(off *bool) short { return short{words: []word{{"off", off}}} }

// matches reports whether a node is the word.
func (w word) matches(n *yaml.Node) bool {
	isBool := w.text == "true" || w.text == "false"
	return n.Kind == yaml.ScalarNode && n.Value == w.text && (!isBool || n.ShortTag() == "!!bool")
}

// expected names the forms for people.
func (s short) expected() string {
	if s.expects != "" {
		return s.expects
	}
	var forms []string
	for _, w := range s.words {
		forms = append(forms, w.text)
	}
	if s.value != nil {
		form := expected(reflect.TypeOf(s.value).Elem())
		if e, ok := reflect.ValueOf(s.value).Elem().Interface().(enum); ok {
			form = strings.Join(e.values(), ", ")
		}
		forms = append(forms, form)
	}
	return strings.Join(forms, ", ") + " or a mapping"
}

// shortened reads the shorter form of a struct. It returns false for another node.
func (l *loader) shortened(n *yaml.Node, v reflect.Value, key string) bool {
	s, ok := v.Addr().Interface().(shorthand)
	if !ok || n.Kind == yaml.MappingNode {
		return false
	}
	form := s.short()
	for _, w := range form.words {
		if w.matches(n) {
			l.defaults(v)
			if w.flag != nil {
				*w.flag = true
			}
			return true
		}
	}
	if form.value == nil {
		return false
	}
	to := reflect.ValueOf(form.value).Elem()
	isList := to.Kind() == reflect.Slice
	switch {
	case isList && n.Kind != yaml.SequenceNode, !isList && (n.Kind != yaml.ScalarNode || !fits(n.ShortTag(), to.Type())):
		return false
	case form.refuse != nil && form.refuse(n) != "":
		l.errorf(key, "%s", form.refuse(n))
		return true
	}
	l.defaults(v)
	if isList {
		l.list(n, to, key)
	} else {
		l.scalar(n, to, key, field{})
	}
	return true
}
