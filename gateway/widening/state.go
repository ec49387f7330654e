package widening

import (
	"crypto/sha256"
	"encoding"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"

	"drawbridge/config"
)

// State is the part of a section that is compared: its keys in the form that their rules need. It holds no secrets; locations and values
// of which only equality counts are digests. A key with its zero value is absent.
type State map[string]json.RawMessage

// has reports whether a key has a value.
func (s State) has(name string) bool { return len(s[name]) > 0 }

// stateOf returns the state of a section.
func stateOf(v reflect.Value) State {
	s := State{}
	for _, k := range keysOf(v.Type()) {
		f := v.FieldByIndex(k.field.Index)
		if f.IsZero() || k.has("none") {
			continue
		}
		if x := k.state(f); x != nil {
			s[k.name] = encoded(x)
		}
	}
	return s
}

// state returns the form of a value that the rules of its key compare; nil if there is nothing to compare.
func (k key) state(v reflect.Value) any {
	if r, ok := k.rule("each", "known"); ok {
		return entriesOf(v, r.value)
	}
	isPointer := v.Kind() == reflect.Pointer
	switch {
	case k.tag == "any" && (v.Kind() == reflect.Slice || v.Kind() == reflect.Map) && v.Len() == 0:
		return nil
	case k.elsewhere():
		return nil
	case k.has("joint"):
		return rest(v)
	case k.has("any"):
		return digest(string(encoded(canonical(v))))
	case isRate(v.Type()):
		if r := rateIn(v.Interface()); r.Interval > 0 {
			return r
		}
		return nil
	case below(v.Type()) != nil && (isPointer || v.Kind() == reflect.Struct):
		return stateOf(reflect.Indirect(v))
	case isPointer:
		return k.state(v.Elem())
	case v.Kind() == reflect.Slice:
		list := make([]string, v.Len())
		for i := range list {
			list[i] = textOf(v.Index(i))
		}
		return list
	case v.Kind() == reflect.Bool:
		return v.Bool()
	case v.CanInt():
		return v.Int()
	}
	if v.Type() == reflect.TypeFor[config.Secret]() {
		return true
	}
	if r := k.rules[0]; r.value != "" { // compared with the value of the rule
		return textOf(v)
	}
	return digest(string(encoded(canonical(v))))
}

// entriesOf returns the states of the sections of a list, by the value of one of their keys.
func entriesOf(list reflect.Value, by string) map[string]State {
	entries := map[string]State{}
	for i := range list.Len() {
		v := list.Index(i)
		for _, k := range keysOf(v.Type()) {
			if k.name == by {
				entries[textOf(v.FieldByIndex(k.field.Index))] = stateOf(v)
			}
		}
	}
	return entries
}

// rest returns the states of the sections in a value that code compares, without the keys that it compares; nil if nothing is left. So a
// key that was added without a tag is not forgotten.
func rest(v reflect.Value) any {
	switch v.Kind() { //nolint:exhaustive // others have no keys
	case reflect.Pointer:
		if !v.IsNil() {
			return rest(v.Elem())
		}
	case reflect.Struct:
		if s := stateOf(v); len(s) > 0 {
			return s
		}
	case reflect.Slice:
		for i := range v.Len() {
			if rest(v.Index(i)) != nil {
				return digest(string(encoded(canonical(v))))
			}
		}
	case reflect.Map:
		for entries := v.MapRange(); entries.Next(); {
			if rest(entries.Value()) != nil {
				return digest(string(encoded(canonical(v))))
			}
		}
	}
	return nil
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
		return ""
	case config.File:
		return digest(x.String())
	case config.Location:
		return digest(x.String())
	case encoding.TextMarshaler:
		text, err := x.MarshalText()
		if err != nil {
			return fmt.Sprintf("%+v", x)
		}
		return string(text)
	case fmt.Stringer:
		return x.String()
	}
	return fmt.Sprint(v.Interface())
}

func isRate(t reflect.Type) bool {
	return t == reflect.TypeFor[config.Rate]() || t == reflect.TypeFor[*config.CallRate]()
}

// rateIn returns a rate of the configuration.
func rateIn(v any) Rate {
	switch r := v.(type) {
	case config.Rate:
		if r.On() {
			return Rate{Interval: r.Rate.Interval(), Burst: r.AtOnce(), Each: true}
		}
	case *config.CallRate:
		return rateOf(r)
	}
	return Rate{}
}

// encoded returns a value as JSON. Values of a state have no type that JSON lacks.
func encoded(v any) json.RawMessage {
	text, _ := json.Marshal(v)
	return text
}

// decoded returns a value of a state; the zero value if it is absent.
func decoded[T any](text json.RawMessage) (v T) {
	_ = json.Unmarshal(text, &v) // an absent or unreadable value is zero
	return v
}

// digest returns a digest of a text that may be secret; "" for none.
func digest(text string) string {
	if text == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}
