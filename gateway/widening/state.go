package widening

import (
	"crypto/sha256"
	"encoding"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"

	"drawbridge/config"
)

// State is the part of a section that is compared: texts by the paths of keys. A list has a text for each entry, and a value of which only
// equality counts is a digest, as locations are. A key with its zero value is absent. There are no secrets.
//
// The path of a key of an entry has the name of the entry in brackets, and the names are the texts of the list.
type State map[string][]string

// set is the text of a value of which only the presence counts.
const set = "set"

// has reports whether a key has a value.
func (s State) has(path string) bool { return len(s[path]) > 0 }

// stateOf returns the state of a section.
func stateOf(section reflect.Value) State {
	s := State{}
	s.add("", section)
	return s
}

func (s State) add(path string, section reflect.Value) {
	for _, k := range keysOf(section.Type()) {
		v, at := section.FieldByIndex(k.field.Index), join(path, k.name)
		switch {
		case v.IsZero() || k.has("none") || k.elsewhere():
		case k.has("each", "known"):
			for i := range v.Len() {
				name := k.nameOf(v.Index(i))
				s[at] = append(s[at], name)
				s.add(entryPath(at, name), v.Index(i))
			}
		case k.isSection():
			if k.has("grants", "restricts") {
				s[at] = []string{set}
			}
			s.add(at, reflect.Indirect(v))
		case !k.has("joint"):
			s[at] = k.texts(v)
		case hasRest(v):
			s[at] = []string{digestOf(v)}
		}
	}
}

func entryPath(path, name string) string { return path + "[" + name + "]" }

// nameOf returns the name of an entry of a list.
func (k key) nameOf(entry reflect.Value) string {
	r, _ := k.rule("each", "known")
	for _, name := range keysOf(entry.Type()) {
		if name.name == r.value {
			return textOf(entry.FieldByIndex(name.field.Index))
		}
	}
	return ""
}

// hasRest reports whether a value that code compares has keys that it doesn't compare, so that one that was added without a tag is not
// forgotten.
func hasRest(v reflect.Value) bool {
	switch v.Kind() { //nolint:exhaustive // others have no keys
	case reflect.Pointer:
		return !v.IsNil() && hasRest(v.Elem())
	case reflect.Struct:
		return len(stateOf(v)) > 0
	case reflect.Slice:
		for i := range v.Len() {
			if hasRest(v.Index(i)) {
				return true
			}
		}
	case reflect.Map:
		for entries := v.MapRange(); entries.Next(); {
			if hasRest(entries.Value()) {
				return true
			}
		}
	}
	return false
}

// texts returns the form of a value that the rules of its key compare.
func (k key) texts(v reflect.Value) []string {
	isList := v.Kind() == reflect.Slice
	switch {
	case k.has("any") && k.tag != "" && (isList || v.Kind() == reflect.Map) && v.Len() == 0:
		return nil
	case k.has("any"):
		return []string{digestOf(v)}
	case isRate(v.Type()):
		if r := rateIn(v.Interface()); r.Interval > 0 {
			return []string{string(encoded(r))}
		}
		return nil
	case isList:
		texts := make([]string, v.Len())
		for i := range texts {
			texts[i] = textOf(v.Index(i))
		}
		return texts
	case v.Type() == reflect.TypeFor[config.Secret]():
		return []string{set}
	case v.CanInt():
		return []string{strconv.FormatInt(v.Int(), 10)}
	case v.Kind() == reflect.String && k.rules[0].value == "":
		return []string{digestOf(v)}
	}
	return []string{textOf(reflect.Indirect(v))}
}

// canonical returns all of a value but its secrets and the keys with the rule none, so that equal values have equal JSON.
func canonical(v reflect.Value) any {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return nil
		}
		if p, ok := v.Interface().(*config.Proxy); ok {
			return proxyOf(p)
		}
		return canonical(v.Elem())
	}
	switch x := v.Interface().(type) {
	case config.Secret:
		return !x.IsZero()
	case encoding.TextMarshaler:
		return textOf(v)
	}
	switch v.Kind() { //nolint:exhaustive // others have one form
	case reflect.Struct:
		return canonicalSection(v)
	case reflect.Slice:
		list := make([]any, v.Len())
		for i := range list {
			list[i] = canonical(v.Index(i))
		}
		return list
	case reflect.Map:
		entries := map[string]any{}
		for all := v.MapRange(); all.Next(); {
			entries[textOf(all.Key())] = canonical(all.Value())
		}
		return entries
	}
	return v.Interface()
}

func canonicalSection(v reflect.Value) any {
	keys := keysOf(v.Type())
	if len(keys) == 0 {
		return fmt.Sprintf("%+v", v.Interface())
	}
	all := map[string]any{}
	for _, k := range keys {
		if f := v.FieldByIndex(k.field.Index); !f.IsZero() && !k.has("none") {
			all[k.name] = canonical(f)
		}
	}
	for i := range v.NumField() { // a section that is written as false, or off
		if f := v.Type().Field(i); !f.IsExported() && f.Type.Kind() == reflect.Bool && v.Field(i).Bool() {
			all["."+f.Name] = true
		}
	}
	return all
}

// textOf returns a scalar as text; a path and a location as a digest.
func textOf(v reflect.Value) string {
	switch x := v.Interface().(type) {
	case config.Secret:
		return set
	case config.File:
		return digest(x.String())
	case config.Location:
		return digest(x.String())
	case encoding.TextMarshaler:
		if text, err := x.MarshalText(); err == nil {
			return string(text)
		}
	}
	return fmt.Sprint(v.Interface())
}

// digestOf returns a digest of all of a value.
func digestOf(v reflect.Value) string { return digest(string(encoded(canonical(v)))) }

// digest returns a digest of a text that may be secret; "" for none.
func digest(text string) string {
	if text == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}

// encoded returns a value as JSON. No value of a summary has a type that JSON lacks.
func encoded(v any) []byte {
	text, _ := json.Marshal(v)
	return text
}
