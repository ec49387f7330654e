package config

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// cursor is a place in a configuration that has been read: the key path of a value, and the values that enclose it. It reports problems of
// that value and of the keys below it, whose names are relative to it: "" for the value itself, "hash_key" for a key, "[0]" for an item.
type cursor struct {
	*loader
	key   string
	value any     // a pointer to the struct at this place; nil for any other value
	up    *cursor // nil at the root
}

// validator is a struct with rules that the tags of its keys can't express. Its method runs before the rules of its keys.
type validator interface{ validate(c cursor) }

// walk applies the rules of a struct that has been read, whose key path is key, and of the keys below it. within is the configuration that the
// struct belongs to, or will: for rules that concern several sections.
func (l *loader) walk(root any, key string, within accessControl) {
	l.misread = maps.Clone(l.failed)
	cursor{loader: l, key: key, up: &cursor{value: within}}.walk(reflect.ValueOf(root).Elem())
}

// accessControl is a whole configuration, as far as tags have rules about it.
type accessControl interface{ hasNoTokens() bool }

// enclosing returns the nearest struct of a type that encloses the place, or nil.
func enclosing[T any](c cursor) *T {
	for at := &c; at != nil; at = at.up {
		if v, ok := at.value.(*T); ok {
			return v
		}
	}
	return nil
}

// path returns the key path of a name below the place.
func (c cursor) path(name string) string {
	switch {
	case name == "":
		return c.key
	case name[0] == '[':
		return c.key + name
	}
	return join(c.key, name)
}

// at returns the place of a name below this one.
func (c cursor) at(name string) cursor { return c.below(c.path(name)) }

// below returns the place of a key path, which this one encloses.
func (c cursor) below(key string) cursor {
	return cursor{loader: c.loader, key: key, up: &c}
}

// item returns the name of an item of the list at a name. A single item in place of a list has the name of the list.
func (c cursor) item(list string, i int) string {
	name := fmt.Sprintf("%s[%d]", list, i)
	if c.given(list) && !c.given(name) {
		return list
	}
	return name
}

// errorf records an error of the value at a name, or of its absence.
func (c cursor) errorf(name, format string, args ...any) {
	c.loader.errorf(c.path(name), format, args...)
}

// warnf records a warning in the same way.
func (c cursor) warnf(name, format string, args ...any) {
	c.loader.warnf(c.path(name), format, args...)
}

// check records what is wrong with a key that is given and has no error yet.
func (c cursor) check(name string, err error) {
	if err != nil && c.ok(name) && c.given(name) {
		c.errorf(name, "%s", err)
	}
}

// most records a text with more bytes than it may have.
func (c cursor) most(name, text string, bytes int) {
	if len(text) > bytes {
		c.errorf(name, "has %d bytes, more than %d", len(text), bytes)
	}
}

// given reports whether the file has a value at a name.
func (c cursor) given(name string) bool { return c.loader.given(c.path(name)) }

// ok reports whether no value at one of the names has an error or is missing.
func (c cursor) ok(names ...string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return !c.loader.ok(c.path(name)) })
}

// faulty reports whether a key below the one at a name has an error.
func (c cursor) faulty(name string) bool { return c.loader.faulty(c.path(name)) }

// unread reports whether a value at one of the names could not be read, or is missing.
func (c cursor) unread(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return c.misread[c.path(name)] || c.unset[c.path(name)] })
}

// readable reports whether the file has a value at a name, and the value could be read.
func (c cursor) readable(name string) bool { return c.given(name) && !c.unread(name) }

// anonymous reports whether callers have no tokens.
func (c cursor) anonymous() bool {
	root := &c
	for root.up != nil {
		root = root.up
	}
	config, ok := root.value.(accessControl)
	return ok && config.hasNoTokens() && c.loader.ok("auth")
}

// walk applies the rules of the structs at and below the place. A pointer that the file does not give is inherited from another key, where it
// is checked.
func (c cursor) walk(v reflect.Value) {
	if c.misread[c.key] {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() && c.given("") {
			c.walk(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			c.at(c.item("", i)).walk(v.Index(i))
		}
	case reflect.Map:
		for _, name := range sortedNames(v) {
			c.below(join(c.key, name)).walk(v.MapIndex(reflect.ValueOf(name)))
		}
	case reflect.Struct:
		if v.CanAddr() && !isText(v.Type()) {
			c.walkStruct(v)
		}
	default: // a scalar has no rules below it
	}
}

func (c cursor) walkStruct(v reflect.Value) {
	c.value = v.Addr().Interface()
	if s, ok := c.value.(validator); ok {
		s.validate(c)
	}
	for _, f := range fieldsOf(v.Type()) {
		c.rules(f.name, v.Field(f.index), v.Type().Field(f.index).Tag)
		c.at(f.name).walk(v.Field(f.index))
	}
}

// sortedNames returns the names of a mapping in their order.
func sortedNames(mapping reflect.Value) []string {
	var names []string
	for _, key := range mapping.MapKeys() {
		names = append(names, key.String())
	}
	slices.Sort(names)
	return names
}

// before returns the items of a list that precede one of them; nil if it is in another list.
func before[T any](list []T, item *T) []T {
	for i := range list {
		if &list[i] == item {
			return list[:i]
		}
	}
	return nil
}
