package config

import (
	"encoding/json"
	"reflect"
	"strconv"

	"go.yaml.in/yaml/v4"
)

// JSON is a mapping of the file as the text of a JSON object, all members in the order of the file; "" for no mapping.
type JSON string

func (JSON) expects() string { return "a mapping" }

// read reads a mapping. References in strings are replaced as everywhere.
func (j *JSON) read(l *loader, n *yaml.Node, key string) {
	if n.Kind != yaml.MappingNode {
		l.mismatch(n, reflect.TypeFor[JSON](), key)
		return
	}
	if text, ok := l.appendJSON(nil, n, key); ok {
		*j = JSON(text)
	}
}

// appendJSON appends a node as JSON; false if it can't be, which is said.
func (l *loader) appendJSON(dst []byte, n *yaml.Node, key string) ([]byte, bool) {
	n = resolveAlias(n)
	if l.values++; l.values > maxValues {
		if l.values == maxValues+1 {
			l.errorf("", "has more than %d values", maxValues)
		}
		return dst, false
	}
	if n.Kind == yaml.MappingNode {
		return l.appendJSONObject(dst, n, key)
	}
	if n.Kind == yaml.SequenceNode {
		good := true
		dst = append(dst, '[')
		for i, item := range n.Content {
			if i > 0 {
				dst = append(dst, ',')
			}
			var ok bool
			dst, ok = l.appendJSON(dst, item, key+"["+strconv.Itoa(i)+"]")
			good = good && ok
		}
		return append(dst, ']'), good
	}
	l.mark(key, n)
	switch n.ShortTag() {
	case "!!null":
		return append(dst, "null"...), true
	case "!!bool":
		var b bool
		if n.Decode(&b) == nil {
			return strconv.AppendBool(dst, b), true
		}
	case "!!int", "!!float":
		if json.Valid([]byte(n.Value)) {
			return append(dst, n.Value...), true
		}
		l.errorf(key, "the number %s can't be written as JSON; write it in decimal digits", n.Value)
		return dst, false
	case "!!str", "!!timestamp":
		return l.appendJSONText(dst, n, key)
	}
	l.errorf(key, "can't be written as JSON")
	return dst, false
}

func (l *loader) appendJSONObject(dst []byte, n *yaml.Node, key string) ([]byte, bool) {
	good, begin, faults := true, len(dst), l.count[Error]
	dst = append(dst, '{')
	for name, child := range l.once(n, key) {
		path := join(key, name.Value)
		if name.Kind != yaml.ScalarNode || name.ShortTag() == "!!null" || name.ShortTag() == "!!merge" {
			l.add(Error, positionOf(name), path, "expected a string as key, got %s", described(name))
			continue
		}
		if len(dst) > begin+1 {
			dst = append(dst, ',')
		}
		dst = append(append(dst, quoted(name.Value)...), ':')
		var ok bool
		dst, ok = l.appendJSON(dst, child, path)
		good = good && ok
	}
	return append(dst, '}'), good && l.count[Error] == faults
}

func (l *loader) appendJSONText(dst []byte, n *yaml.Node, key string) ([]byte, bool) {
	if l.fromDocument || l.verbatim {
		return append(dst, quoted(n.Value)...), true
	}
	e, errs := l.expand(n.Value)
	for _, err := range errs {
		l.errorf(key, "%s", err)
	}
	l.note(key, e.unset...)
	return append(dst, quoted(e.text)...), len(errs) == 0
}

// quoted writes a JSON string. Text that is not UTF-8 gets replacement characters.
func quoted(text string) []byte {
	b, err := json.Marshal(text)
	if err != nil { // strings marshal
		return []byte(`""`)
	}
	return b
}
