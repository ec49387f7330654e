package config

import (
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v4"
)

// Value is any value of a file, as JSON has it, whose texts are templates. The zero Value is null. It is immutable.
type Value struct {
	text    *Template
	literal string // a number, true or false, as JSON
	items   []Value
	members []valueMember // in the order of the file
	kind    yaml.Kind     // of a list or mapping
}

type valueMember struct {
	name  string
	value Value
}

// AppendJSON appends the value as JSON, with what value returns for each name in its places. A member of an object that is
// nothing but a place for which there is nothing is left out; elsewhere that place is an empty text.
func (v Value) AppendJSON(dst []byte, value func(name string) (string, bool)) []byte {
	switch {
	case v.text != nil:
		return v.text.appendJSON(dst, func(name string) string {
			text, _ := value(name)
			return text
		})
	case v.kind == yaml.SequenceNode:
		dst = append(dst, '[')
		for i, item := range v.items {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = item.AppendJSON(dst, value)
		}
		return append(dst, ']')
	case v.kind == yaml.MappingNode:
		return appendMembers(dst, v.members, value)
	case v.literal != "":
		return append(dst, v.literal...)
	}
	return append(dst, "null"...)
}

func appendMembers(dst []byte, members []valueMember, value func(name string) (string, bool)) []byte {
	dst = append(dst, '{')
	begin := len(dst)
	for _, m := range members {
		if m.value.text != nil {
			if name, whole := m.value.text.Place(); whole {
				if _, ok := value(name); !ok {
					continue
				}
			}
		}
		if len(dst) > begin {
			dst = append(dst, ',')
		}
		name, err := json.Marshal(m.name)
		if err != nil { // a string always has a JSON form
			panic("config: " + err.Error())
		}
		dst = append(append(dst, name...), ':')
		dst = m.value.AppendJSON(dst, value)
	}
	return append(dst, '}')
}

// Size returns about the length of what AppendJSON appends, in bytes: at least that of what fills its places.
func (v Value) Size(value func(name string) (string, bool)) (n int) {
	if v.text != nil {
		n += v.text.Size(func(name string) string {
			text, _ := value(name)
			return text
		})
	}
	for _, item := range v.items {
		n += item.Size(value)
	}
	for _, m := range v.members {
		n += len(m.name) + m.value.Size(value)
	}
	return n + len(v.literal) + 2
}

// Places returns the names of the places in all of its texts, each once.
func (v Value) Places() (names []string) {
	add := func(more []string) {
		for _, name := range more {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	if v.text != nil {
		add(v.text.Places())
	}
	for _, item := range v.items {
		add(item.Places())
	}
	for _, m := range v.members {
		add(m.value.Places())
	}
	return names
}

// Place returns the name of the place if the whole value is one.
func (v Value) Place() (name string, ok bool) {
	if v.text == nil {
		return "", false
	}
	return v.text.Place()
}

var jsonNumber = regexp.MustCompile(`\A-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?\z`)

func (v *Value) read(l *loader, n *yaml.Node, key string) {
	if n.Kind == yaml.SequenceNode {
		v.readList(l, n, key)
		return
	}
	if n.Kind == yaml.MappingNode {
		v.readMapping(l, n, key)
		return
	}
	switch n.ShortTag() {
	case "!!null":
	case "!!bool":
		if v.literal = n.Value; n.Value != "true" && n.Value != "false" {
			l.errorf(key, "expected true or false, got %s", quote(n.Value))
		}
	case "!!int", "!!float":
		if v.literal = n.Value; !jsonNumber.MatchString(n.Value) {
			l.errorf(key, "%s is not a number as JSON has it; write it in decimal digits, or put it in quotes", quote(n.Value))
		}
	case "!!str":
		var t Template
		l.scalar(n, reflect.ValueOf(&t).Elem(), key, field{})
		v.text = &t
	default:
		l.errorf(key, "expected a value as JSON has it, got %s; put it in quotes", described(n))
	}
}

func (v *Value) readList(l *loader, n *yaml.Node, key string) {
	if len(n.Content) > maxItems {
		l.errorf(key, "has more than %d items", maxItems)
		return
	}
	v.kind, v.items = n.Kind, make([]Value, len(n.Content))
	for i, item := range n.Content {
		l.value(item, reflect.ValueOf(&v.items[i]).Elem(), key+"["+strconv.Itoa(i)+"]", field{})
	}
}

func (v *Value) readMapping(l *loader, n *yaml.Node, key string) {
	v.kind = n.Kind
	for name, child := range l.once(n, key) {
		path := join(key, name.Value)
		if !l.isTextKey(name, path) {
			continue
		}
		var m Value
		l.value(child, reflect.ValueOf(&m).Elem(), path, field{})
		v.members = append(v.members, valueMember{name.Value, m})
	}
}
