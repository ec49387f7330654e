package widening

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"reflect"
	"slices"
	"strings"

	"drawbridge/config"
)

// comparison collects the ways in which a configuration is wider than the one before it.
type comparison struct {
	old, new *Summary
	opens    []string
	compared int // see maxComparisons
}

// place is a section that is compared: the path of its keys, without names of entries, and the beginning of its reports.
type place struct{ path, prefix string }

// at returns the place of the sections below a key.
func (p place) at(name string) place { return place{join(p.path, name), p.prefix} }

// when reports a way once, after the key that opens it.
func (w *comparison) when(wider bool, key, format string, args ...any) {
	if line := key + ": " + fmt.Sprintf(format, args...); wider && !slices.Contains(w.opens, line) {
		w.opens = append(w.opens, line)
	}
}

// tokens reports whether both configurations require tokens.
func (w *comparison) tokens() bool { return w.old.Auth != nil && w.new.Auth != nil }

// section compares the keys of a section one by one. A key that the old summary doesn't know, because an earlier version wrote it, is
// not compared.
func (w *comparison) section(t reflect.Type, p place, old, new State) {
	for _, k := range keysOf(t) {
		if k.has("none") || k.elsewhere() || w.old.Keys[join(p.path, k.name)] != k.tag || k.has("with auth") && !w.tokens() {
			continue
		}
		for _, r := range k.rules {
			w.key(k, r, p, old[k.name], new[k.name])
		}
	}
}

// key compares the values of a key by one of its rules.
func (w *comparison) key(k key, r rule, p place, old, new json.RawMessage) {
	inner := below(k.field.Type)
	switch {
	case r.kind == "with auth":
		return
	case r.kind == "each" || r.kind == "known":
		w.entries(k, r, inner, p, old, new)
		return
	case inner != nil && !isRate(k.field.Type) && r.kind != "any" && k.field.Type.Kind() != reflect.Slice && k.field.Type.Kind() != reflect.Map:
		w.section(inner, p.at(k.name), decoded[State](old), decoded[State](new))
		if r.kind == "section" || r.kind == "joint" {
			return
		}
	}
	if wider, entries := w.wider(k, r, old, new); wider {
		w.report(k, p, old, new, entries)
	}
}

// entries compares the sections of a list that have the same name.
func (w *comparison) entries(k key, r rule, section reflect.Type, p place, old, new json.RawMessage) {
	was, is := decoded[map[string]State](old), decoded[map[string]State](new)
	for _, name := range slices.Sorted(maps.Keys(is)) {
		if before, ok := was[name]; ok {
			w.section(section, place{join(p.path, k.name), prefixOf(join(p.path, k.name), name)}, before, is[name])
		} else if r.kind == "each" {
			w.report(k, p, old, new, []string{name})
		}
	}
}

// wider reports whether a rule takes a new value for wider than the old one, and the entries of a list that make it so. A value that has
// another form than this version expects can't be compared, and is wider.
func (w *comparison) wider(k key, r rule, old, new json.RawMessage) (wider bool, entries []string) {
	switch form := k.field.Type; {
	case string(old) == string(new) && r.kind != "scopes": // equal ones depend on the default scopes
		return false, nil
	case r.kind == "any" || r.kind == "joint":
		return true, nil
	case isRate(form):
		return widerBy(old, new, func(o, n Rate) bool { return n.exceeds(o) }), nil
	case r.value != "" || form.Kind() == reflect.String:
		return widerBy(old, new, func(o, n string) bool { return r.opensText(o, n) }), nil
	case form.Kind() == reflect.Slice:
		wider = widerBy(old, new, func(o, n []string) bool {
			entries = w.opensList(r, form.Elem(), o, n)
			return len(entries) > 0
		})
		return wider, entries
	case reflect.Zero(form).CanInt():
		return widerBy(old, new, func(o, n int64) bool { return r.opensNumber(o, n) }), nil
	}
	// A switch, a secret or a section: on, or off.
	return r.kind == "grants" && len(old) == 0 || r.kind == "restricts" && len(new) == 0, nil
}

func widerBy[T any](old, new json.RawMessage, opens func(old, new T) bool) bool {
	var o, n T
	if len(old) > 0 && json.Unmarshal(old, &o) != nil || len(new) > 0 && json.Unmarshal(new, &n) != nil {
		return true
	}
	return opens(o, n)
}

func (r rule) opensText(old, new string) bool {
	switch {
	case old == new:
		return false
	case r.kind == "grants":
		return new != "" && (r.value == "" || new == r.value)
	case r.kind == "restricts":
		return old != "" && (r.value == "" || old == r.value)
	case r.kind == "moves":
		return old != "" && new != ""
	}
	return true
}

func (r rule) opensNumber(old, new int64) bool {
	switch r.kind {
	case "grants":
		return new > old
	case "restricts":
		return new < old
	case "limit":
		return old > 0 && (new == 0 || new > old)
	}
	return true
}

// opensList returns the entries that make a list wider; an empty one stands for the whole list.
func (w *comparison) opensList(r rule, entry reflect.Type, old, new []string) []string {
	whole := func(wider bool) []string {
		if wider {
			return []string{""}
		}
		return nil
	}
	switch r.kind {
	case "grants":
		return slices.DeleteFunc(slices.Clone(new), func(n string) bool {
			return slices.ContainsFunc(old, func(o string) bool { return covers(entry, o, n) })
		})
	case "restricts":
		return slices.DeleteFunc(slices.Clone(old), func(o string) bool { return slices.Contains(new, o) })
	case "subset":
		return whole(len(old) == 0 || len(new) == 0 || !contains(old, new))
	case "superset":
		return whole(len(old) == 0 || len(new) == 0 || !contains(new, old))
	case "scopes":
		return whole(!AsStrict(orDefault(new, w.new), orDefault(old, w.old), w.old.Implied))
	}
	return whole(true)
}

// covers reports whether an old entry of a list of a type includes a new one.
func covers(entry reflect.Type, old, new string) bool {
	switch entry {
	case reflect.TypeFor[host](): // without a port it stands for every port
		return old == new || !strings.Contains(strings.TrimPrefix(new, old), "]") && strings.HasPrefix(new, old+":") && strings.Count(new[len(old):], ":") == 1
	case reflect.TypeFor[config.Network]():
		o, err := netip.ParsePrefix(old)
		n, errNew := netip.ParsePrefix(new)
		return err == nil && errNew == nil && o.Bits() <= n.Bits() && o.Contains(n.Addr())
	}
	return old == new
}

// contains reports whether whole contains all of part.
func contains(whole, part []string) bool {
	return !slices.ContainsFunc(part, func(s string) bool { return !slices.Contains(whole, s) })
}

// report adds what a key opens, once for each of the entries if its sentence names one.
func (w *comparison) report(k key, p place, old, new json.RawMessage, entries []string) {
	prefix, sentence := p.prefix, k.field.Tag.Get("opens")
	if sentence == "" {
		sentence = sentenceOf(join(p.path, k.name), k.name, len(new) == 0)
		if prefix == "" {
			prefix = join(p.path, k.name) + ": "
		}
	}
	if k.has("scopes") {
		sentence = fmt.Sprintf("%s suffices where %s was needed", scopes(orDefault(decoded[[]string](new), w.new)), scopes(orDefault(decoded[[]string](old), w.old)))
		entries = nil
	}
	switch verbs := strings.Count(sentence, "%"); {
	case verbs == 2: // the new value, and the old one
		sentence = fmt.Sprintf(sentence, decoded[string](new), decoded[string](old))
		entries = []string{""}
	case verbs == 0:
		entries = []string{""}
	}
	for _, entry := range entries {
		line := prefix + sentence
		if strings.Contains(sentence, "%") {
			line = prefix + fmt.Sprintf(sentence, entry)
		}
		if !slices.Contains(w.opens, line) {
			w.opens = append(w.opens, line)
		}
	}
}
