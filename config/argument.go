package config

import (
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Argument changes one argument of a tool. At most one of value, secret and claim can be given: callers then neither see
// nor give the argument, and every call is sent with it.
type Argument struct {
	// The name that callers see: at most 64 letters, digits, _, . and -. Conditions and other settings use it.
	Name string `yaml:"name,omitempty" absent:"the name from the document" access:"none: names of arguments"`
	// The description for models, at most 1024 bytes.
	Description string `yaml:"description,omitempty" absent:"from the document" access:"none: words for models and users" length:"1024"`
	// An example for models.
	Example Literal `yaml:"example,omitempty" absent:"from the document" access:"none: words for models and users"`
	// The value that is sent if a call lacks the argument. Callers see it.
	Default Literal `yaml:"default,omitempty" absent:"the service's own" access:"none: callers may give another value"`
	// The value that is sent with every call.
	Value Literal `yaml:"value,omitempty" absent:"callers give it" access:"joint: operation"`
	// A secret value that is sent with every call and redacted from what is shown.
	Secret Secret `yaml:"secret,omitempty" absent:"callers give it" access:"joint: operation"`
	// The token claim whose value is sent with every call: a name or a JSON Pointer. Calls without the claim are
	// rejected. Needs auth.issuers.
	Claim string `yaml:"claim,omitempty" absent:"callers give it" access:"joint: operation" is:"claim" issuers:"needs auth.issuers: without tokens no caller has claims"`
	// Whether callers neither see nor give the argument. Without a value it must be optional or have a default, which
	// is then sent.
	Hidden *bool `yaml:"hidden,omitempty" absent:"true with value, secret or claim" access:"joint: operation"`

	keys map[string]string // the key path of each of its fields in the file, by name
}

// validateAs checks a change of the argument with a name, and notes at which keys the file gives it.
func (a *Argument) validateAs(c cursor, name string) {
	a.keys = map[string]string{"": c.key}
	given := map[string]bool{}
	for _, f := range fieldsOf(reflect.TypeFor[Argument]()) {
		if c.given(f.name) {
			a.keys[f.name], given[f.name] = c.path(f.name), true
		}
	}
	if len(given) == 0 {
		if !c.faulty("") {
			c.errorf("", "is empty; it changes nothing")
		}
		return
	}
	if a.Name != "" && c.ok("name") {
		switch {
		case a.Name == name:
			c.errorf("name", "is the name that the argument has already")
		case len(a.Name) > 64 || !legalArgument(a.Name):
			c.errorf("name", "%s can't be the name of an argument: at most 64 letters, digits, _, . and -", quote(a.Name))
		}
	}
	var fixed []string
	for _, field := range []string{"value", "secret", "claim"} {
		if given[field] {
			fixed = append(fixed, field)
		}
	}
	hidden := a.Hidden != nil && *a.Hidden
	switch {
	case len(fixed) > 1:
		c.errorf(fixed[1], "can't stand beside %s: there is one value", fixed[0])
	case len(fixed) == 1 && a.Hidden != nil && !hidden:
		c.errorf("hidden", "can't be false with %s, which callers don't give", fixed[0])
	case given["default"] && len(fixed) == 1:
		c.errorf("default", "has no effect beside %s, which every call is sent with", fixed[0])
	case given["default"] && hidden:
		c.errorf("default", "is sent with every call if callers can't give the argument: write it as value, without hidden")
	case len(fixed) == 1 || hidden:
		for _, field := range []string{"name", "description", "example"} {
			if given[field] {
				c.errorf(field, "has no effect: callers don't see the argument")
			}
		}
	}
}

// legalArgument reports whether an argument may have the name (the names that openapi makes).
func legalArgument(name string) bool {
	for _, c := range []byte(name) {
		if !alphanumeric(c) && c != '_' && c != '.' && c != '-' {
			return false
		}
	}
	return true
}

// validateArguments checks what a rule changes of arguments, and that no two of them have one name.
func (s *Settings) validateArguments(c cursor) {
	names := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(s.Arguments)) {
		a, at := s.Arguments[name], join("arguments", name)
		if a == nil || !c.ok(at) {
			continue
		}
		a.validateAs(c.at(at), name)
		if other := names[a.Name]; a.Name != "" && other != "" {
			c.errorf(at+".name", "%s is the name of %s already", quote(a.Name), quote(other))
		} else {
			names[a.Name] = name
		}
	}
}

// Fixed reports whether each call has a value that its caller does not give.
func (a *Argument) Fixed() bool { return a.Value != "" || !a.Secret.IsZero() || a.Claim != "" }

// Concealed reports whether callers neither see nor give the argument.
func (a *Argument) Concealed() bool { return a.Fixed() || a.Hidden != nil && *a.Hidden }

// Key returns the key path at which the file gives a field, or the one of the argument.
func (a *Argument) Key(field string) string {
	if key := a.keys[field]; key != "" {
		return key
	}
	return a.keys[""]
}

// FixedKey returns the key path of what conceals the argument.
func (a *Argument) FixedKey() string {
	switch {
	case a.Value != "":
		return a.Key("value")
	case !a.Secret.IsZero():
		return a.Key("secret")
	case a.Claim != "":
		return a.Key("claim")
	}
	return a.Key("hidden")
}

// overriddenBy returns the argument with the fields that a later rule gives.
func (a *Argument) overriddenBy(later *Argument) *Argument {
	both := *a
	if later.Fixed() || later.Hidden != nil && !*later.Hidden {
		both.Value, both.Secret, both.Claim, both.Hidden = "", Secret{}, "", nil
	}
	to, from := reflect.ValueOf(&both).Elem(), reflect.ValueOf(later).Elem()
	for i := range from.NumField() {
		if from.Type().Field(i).IsExported() && !from.Field(i).IsZero() {
			to.Field(i).Set(from.Field(i))
		}
	}
	both.keys = maps.Clone(a.keys)
	maps.Copy(both.keys, later.keys)
	return &both
}

// mergeArguments returns the arguments of two rules, field by field, so that a rule that describes an argument does not
// lift the value that another one fixes.
func mergeArguments(earlier, later map[string]*Argument) map[string]*Argument {
	if len(earlier) == 0 || len(later) == 0 {
		if len(later) > 0 {
			return later
		}
		return earlier
	}
	all := maps.Clone(earlier)
	for name, a := range later {
		if before := all[name]; before != nil {
			a = before.overriddenBy(a)
		}
		all[name] = a
	}
	return all
}

// Literal is any value of the file as JSON text; "" for no value.
type Literal string

func (Literal) expects() string { return "any value" }

// read reads a value. The text of a file may be a secret, which has a key of its own.
func (v *Literal) read(l *loader, n *yaml.Node, key string) {
	if at := fileReference(n, key); at != "" {
		l.errorf(at, "has the content of a file, which may be a secret: write it as secret")
		return
	}
	if text, ok := l.appendJSON(nil, n, key); ok {
		*v = Literal(text)
	}
}

// fileReference returns the key path of the first text with a reference to a file; "" for no reference.
func fileReference(n *yaml.Node, key string) string { return referenceIn(n, key, "${file:") }

// referenceIn returns the key path of the first text with a reference that begins so; "" for no reference.
func referenceIn(n *yaml.Node, key, begin string) string {
	n = resolveAlias(n)
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!str" && strings.Contains(strings.ReplaceAll(n.Value, "$$", ""), begin) {
		return key
	}
	for i := 0; i < len(n.Content); i++ {
		at := key
		if n.Kind == yaml.MappingNode {
			if i+1 == len(n.Content) {
				break
			}
			at = join(key, n.Content[i].Value)
			i++
		} else {
			at += "[" + strconv.Itoa(i) + "]"
		}
		if found := referenceIn(n.Content[i], at, begin); found != "" {
			return found
		}
	}
	return ""
}
