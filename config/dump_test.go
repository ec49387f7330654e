package config

import (
	"encoding"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

// dump returns a configuration as a file that gives every key. A mapping that has a shorter form is written so where it says the same.
func dump(t *testing.T, cfg *Config) string {
	t.Helper()
	data, err := yaml.Dump(nodeOf(t, reflect.ValueOf(cfg)))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// nodeOf returns the YAML node that a value is read from.
func nodeOf(t *testing.T, v reflect.Value) *yaml.Node {
	t.Helper()
	switch value := v.Interface().(type) {
	case Literal:
		return nodeOfJSON(t, string(value))
	case Value:
		return nodeOfJSON(t, string(value.AppendJSON(nil, func(name string) (string, bool) { return "{{" + name + "}}", true })))
	case KeyHeader:
		if value == noKeyHeader {
			return encoded(t, false)
		}
	case encoding.TextMarshaler:
		if v.Kind() != reflect.Pointer || !v.IsNil() {
			text, err := value.MarshalText()
			if err != nil {
				t.Fatal(err)
			}
			return encoded(t, string(text))
		}
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return encoded(t, nil)
		}
		return nodeOf(t, v.Elem())
	case reflect.Struct:
		return nodeOfStruct(t, v)
	case reflect.Slice:
		n := &yaml.Node{Kind: yaml.SequenceNode}
		for i := range v.Len() {
			n.Content = append(n.Content, nodeOf(t, v.Index(i)))
		}
		return n
	case reflect.Map:
		n := &yaml.Node{Kind: yaml.MappingNode}
		for _, name := range sortedNames(v) {
			n.Content = append(n.Content, encoded(t, name), nodeOf(t, v.MapIndex(reflect.ValueOf(name))))
		}
		return n
	default:
		return encoded(t, v.Interface())
	}
}

func nodeOfStruct(t *testing.T, v reflect.Value) *yaml.Node {
	t.Helper()
	for _, n := range shorterForms(t, v) {
		read := reflect.New(v.Type())
		l := &loader{verbatim: true}
		l.value(n, read.Elem(), "", field{})
		if len(l.problems) == 0 && reflect.DeepEqual(read.Elem().Interface(), v.Interface()) {
			return n
		}
	}
	n := &yaml.Node{Kind: yaml.MappingNode}
	for _, f := range fieldsOf(v.Type()) {
		_, options, _ := strings.Cut(v.Type().Field(f.index).Tag.Get("yaml"), ",")
		if value := v.Field(f.index); options != "omitempty" || !isZero(value) {
			n.Content = append(n.Content, encoded(t, f.name), nodeOf(t, value))
		}
	}
	return n
}

// shorterForms returns the nodes that may replace the mapping of a struct.
func shorterForms(t *testing.T, v reflect.Value) (nodes []*yaml.Node) {
	t.Helper()
	p := reflect.New(v.Type())
	p.Elem().Set(v)
	s, ok := p.Interface().(shorthand)
	if !ok {
		return nil
	}
	form := s.short()
	for _, w := range form.words {
		if w.flag != nil {
			n := encoded(t, w.text)
			if w.text == "false" {
				n = encoded(t, false)
			}
			nodes = append(nodes, n)
		}
	}
	if value := reflect.ValueOf(form.value); form.value != nil && value.Elem().Kind() != reflect.Slice {
		nodes = append(nodes, nodeOf(t, value.Elem()))
	}
	return nodes
}

// isZero reports whether a key with the value may be left out.
func isZero(v reflect.Value) bool {
	if z, ok := v.Interface().(interface{ IsZero() bool }); ok && (v.Kind() != reflect.Pointer || !v.IsNil()) {
		return z.IsZero()
	}
	switch v.Kind() {
	case reflect.Slice, reflect.Map:
		return v.Len() == 0
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() && !isZero(v.Field(i)) {
				return false
			}
		}
		return true
	default:
		return v.IsZero()
	}
}

// nodeOfJSON returns the node of a JSON text; null for "".
func nodeOfJSON(t *testing.T, text string) *yaml.Node {
	t.Helper()
	var value any
	if text != "" {
		if err := json.Unmarshal([]byte(text), &value); err != nil {
			t.Fatal(err)
		}
	}
	return encoded(t, value)
}

func encoded(t *testing.T, value any) *yaml.Node {
	t.Helper()
	n := &yaml.Node{}
	if err := n.Encode(value); err != nil {
		t.Fatal(err)
	}
	singleQuoted(n)
	return n
}

// singleQuoted gives texts the quotes that they have in a dump of a value.
func singleQuoted(n *yaml.Node) {
	if n.Style == yaml.DoubleQuotedStyle {
		n.Style = yaml.SingleQuotedStyle
	}
	for _, child := range n.Content {
		singleQuoted(child)
	}
}
