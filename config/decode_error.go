package config

import (
	"cmp"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"drawbridge/openapi/text"
)

func (l *loader) mismatch(n *yaml.Node, t reflect.Type, key string) {
	got := described(n)
	hint := ""
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!str" && (t.Kind() != reflect.Bool && t.Kind() != reflect.Int) {
		got = "a string" // which may be a secret in the wrong place
	}
	if n.Kind == yaml.ScalarNode && n.ShortTag() != "!!str" && isText(t) {
		hint = "; put it in quotes"
		if t == reflect.TypeFor[Secret]() {
			got = "a number, a date, true or false"
		}
	}
	if h, ok := reflect.New(t).Interface().(hinting); ok {
		hint = cmp.Or(h.hint(n, key[strings.LastIndexByte(key, '.')+1:]), hint)
	}
	wanted := expected(t)
	if n.ShortTag() == "!!bool" && strings.HasPrefix(wanted, "true, false ") {
		hint = "; write it in small letters"
	}
	l.errorf(key, "expected %s, got %s%s", wanted, got, cmp.Or(hint, itemHint(n, t)))
}

// itemHint shows how an item of a list is written, for a list without items.
func itemHint(n *yaml.Node, t reflect.Type) string {
	if t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct && !isText(t.Elem()) && n.Kind == yaml.MappingNode {
		return `; begin each item with "- "`
	}
	return ""
}

// shown repeats a bad value where that helps and can't show a secret: words and numbers of the file itself.
func shown(err error, n *yaml.Node, e expansion, v reflect.Value) string {
	en, isEnum := v.Interface().(enum)
	_, pointer := v.Interface().(Pointer)
	_, place := v.Interface().(Field)
	switch _, isParser := v.Addr().Interface().(parser); {
	case e.expanded && (strings.HasPrefix(err.Error(), "must be ") || strings.HasPrefix(err.Error(), "expected ")):
		return fmt.Sprintf(", but what %s expands to is not", quote(n.Value))
	case e.expanded:
		return fmt.Sprintf("; it is what %s expands to", quote(n.Value))
	case pointer || place:
		return ", got " + quote(n.Value)
	case isParser || v.Kind() == reflect.String && !isEnum:
		return ""
	}
	s := fmt.Sprintf(", got %s", described(n))
	if isEnum {
		if near := text.Nearest(n.Value, en.values()); near != "" && strings.EqualFold(near[:1], n.Value[:1]) {
			s += text.DidYouMean(near) // but not RS256 for HS256
		}
	}
	return s
}

// expecting is a type that names for people what is expected of its values, if that does not follow from its kind.
type expecting interface{ expects() string }

// hinting is a struct that knows what was meant by another node than a mapping, whose key has a name; "" if it does not.
type hinting interface {
	hint(n *yaml.Node, name string) string
}

// expected names a type for people.
func expected(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[Duration]():
		return "a duration"
	case reflect.TypeFor[ByteSize]():
		return "a size in bytes"
	case reflect.TypeFor[TokenCount]():
		return "a number of tokens"
	case reflect.TypeFor[URL](), reflect.TypeFor[Origin](), reflect.TypeFor[Endpoint]():
		return "a URL"
	case reflect.TypeFor[Location]():
		return "a URL or path"
	}
	if e, ok := reflect.Zero(t).Interface().(expecting); ok {
		return e.expects()
	}
	if s, ok := reflect.Zero(t).Interface().(single); ok {
		_, noun := s.single()
		return fmt.Sprintf("a %s or a list of %[1]ss", noun)
	}
	if s, ok := reflect.New(t).Interface().(shorthand); ok {
		return s.short().expected()
	}
	switch t.Kind() {
	case reflect.Pointer:
		return expected(t.Elem())
	case reflect.Slice:
		return "a list"
	case reflect.Map:
		return "a mapping"
	case reflect.Bool:
		return "true or false"
	case reflect.Int:
		return "a whole number"
	default:
		if isText(t) {
			return "a string"
		}
		return "a mapping"
	}
}

// described names what a node is.
func described(n *yaml.Node) string {
	if n.Kind == yaml.MappingNode {
		return "a mapping"
	}
	if n.Kind == yaml.SequenceNode {
		return "a list"
	}
	switch n.ShortTag() {
	case "!!null":
		return "nothing"
	case "!!bool":
		return n.Value
	case "!!int", "!!float":
		return "the number " + n.Value
	case "!!timestamp":
		return "the date " + n.Value
	}
	return "the string " + quote(n.Value)
}

func quote(s string) string {
	const most = 60 // characters
	return strconv.Quote(text.TruncateRunes(s, most))
}
