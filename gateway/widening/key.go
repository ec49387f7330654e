package widening

import (
	"reflect"
	"strings"
	"sync"

	"drawbridge/config"
)

// key is a key of a configuration section, with the rules of its tag access:
//
//	none: REASON     the key decides about no access
//	any              each change is wider; an empty list or map is none. Without a tag each change is wider
//	section          the keys below are compared one by one
//	each: KEY        the entries of a list are compared by the value of a key; a new entry is wider
//	known: KEY       the same, but a new entry is not wider: nothing restricted it before
//	grants           true, a further entry, a greater number, and a new or another text are wider
//	grants: VALUE    this value is wider than all others
//	restricts        false, an entry less, a smaller number, and a text that is gone or another are wider
//	restricts: VALUE all other values are wider than this one
//	allows           a further entry of a list is wider, and so is none, which stands for all
//	limit            a greater number or rate is wider, and so is none
//	subset           another list is wider, unless it is a part of the old one
//	superset         another list is wider, unless the old one is a part of it
//	moves            another text is wider; a first one and none are not
//	scopes           a list of scopes that does not include the old ones is wider
//	joint: TOPIC     code of this package compares the key together with others
//	with auth        a further rule: only if both configurations require tokens
//
// Several rules are separated by semicolons; the key is wider if it is so by one of them. Rules of values that are sections, lists and
// maps don't look at keys with the rule none.
type key struct {
	name  string // in the file
	field reflect.StructField
	tag   string // without the reason of none
	rules []rule
}

type rule struct{ kind, value string }

// sections holds the keys of types of sections that were read before.
var sections sync.Map

// keysOf returns the keys of a section in the order of its fields.
func keysOf(section reflect.Type) []key {
	if known, ok := sections.Load(section); ok {
		keys, _ := known.([]key) // as stored below
		return keys
	}
	keys := readKeys(section)
	sections.Store(section, keys)
	return keys
}

func readKeys(section reflect.Type) (keys []key) {
	for i := range section.NumField() {
		f := section.Field(i)
		if name, _, _ := strings.Cut(f.Tag.Get("yaml"), ","); name != "" && f.IsExported() {
			keys = append(keys, keyOf(name, f))
		}
	}
	return keys
}

func keyOf(name string, f reflect.StructField) key {
	k := key{name: name, field: f, tag: f.Tag.Get("access")}
	if strings.HasPrefix(k.tag, "none") {
		k.tag = "none"
	}
	for text := range strings.SplitSeq(k.tag, "; ") {
		kind, value, _ := strings.Cut(text, ": ")
		if kind == "" {
			kind = "any"
		}
		k.rules = append(k.rules, rule{kind, value})
	}
	return k
}

// rule returns the first rule of one of the kinds.
func (k key) rule(kinds ...string) (rule, bool) {
	for _, r := range k.rules {
		for _, kind := range kinds {
			if r.kind == kind {
				return r, true
			}
		}
	}
	return rule{}, false
}

func (k key) has(kinds ...string) bool {
	_, ok := k.rule(kinds...)
	return ok
}

// elsewhere reports whether no state of the key is kept below its section: the code of its topic keeps one.
func (k key) elsewhere() bool {
	r, ok := k.rule("joint")
	if !ok {
		return false
	}
	switch r.value {
	case "auth", "entry", "apis", "rules", "identity":
		return true
	}
	return false
}

// form returns what a summary must have been written with to be comparable: the rules, and the type.
func (k key) form() string { return k.tag + " " + k.field.Type.String() }

// isSection reports whether the value of a key is a section that is compared by its keys.
func (k key) isSection() bool {
	t := k.field.Type
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Kind() == reflect.Struct && below(t) != nil && !k.has("any") && !isRate(k.field.Type)
}

// below returns the type of the sections that a value of a type is or holds; nil if it has none.
func below(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || len(keysOf(t)) == 0 {
		return nil
	}
	return t
}

// compared adds the paths of the keys of a section that are compared, with their forms.
func compared(section reflect.Type, path string, to map[string]string) map[string]string {
	for _, k := range keysOf(section) {
		if k.has("none") {
			continue
		}
		at := join(path, k.name)
		to[at] = k.form()
		if inner := below(k.field.Type); inner != nil && !k.has("any") && !k.elsewhere() {
			compared(inner, at, to)
		}
	}
	return to
}

// knownKeys returns the paths of all keys that this version compares, with their forms.
var knownKeys = sync.OnceValue(func() map[string]string {
	keys := compared(reflect.TypeFor[config.Config](), "", map[string]string{})
	compared(reflect.TypeFor[config.Auth](), "auth", keys)
	compared(reflect.TypeFor[config.API](), "apis", keys)
	compared(reflect.TypeFor[joint](), "joint", keys)
	return compared(reflect.TypeFor[jointAPI](), "joint.apis", keys)
})

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
