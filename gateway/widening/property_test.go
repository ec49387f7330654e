package widening

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"drawbridge/config"
)

// TestSameAccess: a configuration opens nothing beyond itself, also when its summary was recorded, and neither does one that differs only in keys
// that decide about no access.
func TestSameAccess(t *testing.T) {
	g, pairs := newGenerator(t)
	for range pairs {
		c := g.config(g.IntN(4))
		if !isPlausible(c) {
			continue
		}
		text, err := json.Marshal(record{recordVersion, encoded(Of(c, nil))})
		if err != nil {
			t.Fatal(err)
		}
		recorded, err := parseRecord(text)
		if err != nil {
			t.Fatal(err)
		}
		if opens := Wider(recorded, Of(c, recorded), nil); len(opens) > 0 {
			t.Fatalf("the same configuration opens %q", opens)
		}
		g.changes = func(k key) bool { return k.has("none") && k.name != "max_in_flight" } // the default of APIs
		same := g.change(c, 3)
		g.changes = nil
		if opens := Wider(recorded, Of(same, recorded), nil); len(opens) > 0 {
			t.Fatalf("keys that decide about no access open %q", opens)
		}
	}
}

// TestForgottenTag: a key that opens something by its rules does so without its tag too, and without it each other value is wider.
func TestForgottenTag(t *testing.T) {
	g, pairs := newGenerator(t)
	g.changes = func(k key) bool { return !k.has("none") }
	keys := map[string][]key{}
	var collect func(section reflect.Type)
	collect = func(section reflect.Type) {
		if keys[section.Name()] != nil {
			return
		}
		keys[section.Name()] = keysOf(section)
		for _, k := range keysOf(section) {
			if inner := below(k.field.Type); inner != nil {
				collect(inner)
			}
		}
	}
	collect(reflect.TypeFor[config.Config]())
	opened := 0
	for _, section := range sortedKeys(keys) {
		for _, k := range keys[section] {
			if k.has("none") || k.field.Type == reflect.TypeFor[[]config.API]() || k.field.Type == reflect.TypeFor[config.Secret]() || k.field.Type == reflect.TypeFor[config.APIDefaults]() {
				continue // as a whole, APIs are more than the pairs of their keys
			}
			forgotten := keyOf(k.name, reflect.StructField{Name: k.field.Name, Type: k.field.Type})
			for range max(3, pairs/100) {
				old := g.pick(k.field.Type)
				new := g.changed(old)
				w := &comparison{old: &Summary{}, new: &Summary{}}
				wider := len(w.opened(forgotten, forgotten.rules[0], texts(forgotten, old), texts(forgotten, new))) > 0
				if differs := string(encoded(canonical(old))) != string(encoded(canonical(new))); differs && !wider {
					t.Errorf("%s.%s without a tag: %v is not wider than %v", section, k.field.Name, new, old)
				}
				if k.has("joint", "each", "known") || k.isSection() {
					continue
				}
				for _, r := range k.rules {
					if len(w.opened(k, r, texts(k, old), texts(k, new))) > 0 {
						if opened++; !wider {
							t.Errorf("%s.%s: %v is wider than %v, and not without the tag", section, k.field.Name, new, old)
						}
					}
				}
			}
		}
	}
	if opened == 0 {
		t.Error("nothing was wider")
	}
}

// texts returns the state of a value of a key.
func texts(k key, v reflect.Value) []string {
	if v.IsZero() {
		return nil
	}
	return k.texts(v)
}

func sortedKeys[V any](m map[string]V) (names []string) {
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// TestRules: what each rule takes for wider, and what it does not.
func TestRules(t *testing.T) {
	type section struct {
		Forgotten  []string     `yaml:"forgotten"`
		Scale      int          `yaml:"scale"`
		Opened     bool         `yaml:"opened" access:"grants"`
		Closed     bool         `yaml:"closed" access:"restricts"`
		Let        []string     `yaml:"let" access:"grants"`
		Kept       []string     `yaml:"kept" access:"restricts"`
		Place      string       `yaml:"place" access:"grants"`
		Guard      string       `yaml:"guard" access:"restricts"`
		Most       int          `yaml:"most" access:"limit"`
		Level      int          `yaml:"level" access:"grants"`
		Moved      string       `yaml:"moved" access:"moves"`
		Clients    []string     `yaml:"clients" access:"subset"`
		Claims     []string     `yaml:"claims" access:"superset"`
		Form       string       `yaml:"form" access:"grants: open; restricts: shut"`
		Unheeded   string       `yaml:"unheeded" access:"none: a reason"`
		ForgottenS config.Cache `yaml:"forgotten_section"`
	}
	for _, tt := range []struct {
		name     string
		old, new section
		want     string // the key that opens; "" for none
	}{
		{"an entry of a list without a tag", section{Forgotten: []string{"a"}}, section{Forgotten: []string{"a", "b"}}, "forgotten"},
		{"an entry less of a list without a tag", section{Forgotten: []string{"a", "b"}}, section{Forgotten: []string{"a"}}, "forgotten"},
		{"no list without a tag", section{Forgotten: []string{"a"}}, section{}, "forgotten"},
		{"a number without a tag", section{Scale: 2}, section{Scale: 1}, "scale"},
		{"a key below one without a tag", section{}, section{ForgottenS: config.Cache{Shared: true}}, "forgotten_section"},
		{"turned on", section{}, section{Opened: true}, "opened"},
		{"turned off", section{Opened: true}, section{}, ""},
		{"a restriction turned off", section{Closed: true}, section{}, "closed"},
		{"a restriction turned on", section{}, section{Closed: true}, ""},
		{"one more is let in", section{Let: []string{"a"}}, section{Let: []string{"b", "a"}}, "let"},
		{"one less is let in", section{Let: []string{"a", "b"}}, section{Let: []string{"b"}}, ""},
		{"one less is kept", section{Kept: []string{"a", "b"}}, section{Kept: []string{"b"}}, "kept"},
		{"one more is kept", section{Kept: []string{"a"}}, section{Kept: []string{"b", "a"}}, ""},
		{"another place", section{Place: "a"}, section{Place: "b"}, "place"},
		{"a first place", section{}, section{Place: "b"}, "place"},
		{"no place", section{Place: "a"}, section{}, ""},
		{"another guard", section{Guard: "a"}, section{Guard: "b"}, "guard"},
		{"no guard", section{Guard: "a"}, section{}, "guard"},
		{"a first guard", section{}, section{Guard: "b"}, ""},
		{"a higher limit", section{Most: 1}, section{Most: 2}, "most"},
		{"no limit", section{Most: 1}, section{}, "most"},
		{"a lower limit", section{Most: 2}, section{Most: 1}, ""},
		{"a first limit", section{}, section{Most: 1}, ""},
		{"a greater number", section{}, section{Level: 1}, "level"},
		{"a smaller number", section{Level: 2}, section{Level: 1}, ""},
		{"moved", section{Moved: "a"}, section{Moved: "b"}, "moved"},
		{"moved away", section{Moved: "a"}, section{}, ""},
		{"placed", section{}, section{Moved: "a"}, ""},
		{"fewer clients", section{Clients: []string{"a", "b"}}, section{Clients: []string{"a"}}, ""},
		{"all clients", section{Clients: []string{"a", "b"}}, section{}, "clients"},
		{"other clients", section{Clients: []string{"a"}}, section{Clients: []string{"b"}}, "clients"},
		{"more claims", section{Claims: []string{"a"}}, section{Claims: []string{"a", "b"}}, ""},
		{"fewer claims", section{Claims: []string{"a", "b"}}, section{Claims: []string{"a"}}, "claims"},
		{"the open form", section{Form: "shut"}, section{Form: "open"}, "form"},
		{"a form between", section{Form: "open"}, section{Form: "half"}, ""},
		{"no longer shut", section{Form: "shut"}, section{Form: "half"}, "form"},
		{"a key that decides about nothing", section{Unheeded: "a"}, section{Unheeded: "b"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			keys := compared(reflect.TypeFor[section](), "", map[string]string{})
			w := &comparison{old: &Summary{Keys: keys}, new: &Summary{Keys: keys}}
			w.section(reflect.TypeFor[section](), place{}, stateOf(reflect.ValueOf(tt.old)), stateOf(reflect.ValueOf(tt.new)))
			var want []string
			if tt.want != "" {
				want = []string{tt.want + ": " + tt.want + " is another"}
			}
			if !slices.Equal(w.opens, want) {
				t.Errorf("opens %q, want %q", w.opens, want)
			}
		})
	}
}
