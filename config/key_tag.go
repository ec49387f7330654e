package config

import (
	"reflect"
	"strings"
)

// field is what the tags of a struct field say; see config.go.
type field struct {
	owner             reflect.Type // the struct
	name              string       // the key
	index             int
	preset            string // default
	hasPreset, needed bool
	low, high         string // min, max
	zero              bool   // 0 is allowed below min
}

// fieldsOf returns the keys of a configuration struct in the order of its fields.
func fieldsOf(t reflect.Type) []field {
	fields := make([]field, 0, t.NumField())
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() {
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		preset, hasPreset := f.Tag.Lookup("default")
		_, zero := f.Tag.Lookup("zero")
		fields = append(fields, field{
			owner: t, name: name, index: i, preset: preset, hasPreset: hasPreset, needed: f.Tag.Get("required") == "true",
			low: f.Tag.Get("min"), high: f.Tag.Get("max"), zero: zero,
		})
	}
	return fields
}

// join returns the path of a key below another; the path of the root is empty.
func join(key, name string) string {
	if key == "" {
		return name
	}
	return key + "." + name
}
