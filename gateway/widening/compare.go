package widening

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/netip"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"drawbridge/config"
)

// Wider returns the ways in which a configuration gives more access than the one before it. Each is
// a sentence without a full stop that begins with a configuration key. Access of a new API is not
// wider, because nothing restricted it before. documents returns the document of new.APIs[i], whose
// operations were compared one by one, or nil if it is unknown. It may be nil itself.
func Wider(old, new *Summary, documents func(i int) *Document) (opens []string) {
	w := &comparison{old: old, new: new}
	w.auth()
	before := State{}
	maps.Copy(before, old.Config)
	for _, list := range remembered {
		before.addEntries(list, old.GoneEntries, nil, math.MaxInt)
	}
	w.section(reflect.TypeFor[config.Config](), place{}, before, new.Config)
	w.when(len(old.Clients) > 0 && !contains(old.Clients, new.Clients), "server.tls.client_ca_file", "clients of other authorities are let in")
	w.operators(old.Operators, new.Operators)
	w.section(reflect.TypeFor[joint](), place{path: "joint"}, old.Joint, new.Joint)
	w.when(len(new.Exempt) > 0 && (len(old.Exempt) == 0 || !contains(new.Exempt, old.Exempt)), "tools.unconfirmed_scopes",
		"callers with other scopes than before are not asked for consent")
	w.when(ownExceed(old, new), "limits.principal_rates", "some principals may send more requests")
	for _, name := range slices.Sorted(maps.Keys(new.Held)) {
		w.when(old.Held[name] && !new.Held[name], "discovery."+name, "new services are served without being accepted")
	}
	w.apis(documents)
	return w.opens
}

func (w *comparison) auth() {
	switch {
	case w.old.Auth == nil:
		w.when(w.new.Anonymous && !w.old.Anonymous, "auth.anonymous", "everybody who reaches the gateway is served, on any address")
	case w.new.Auth == nil:
		w.when(true, "auth", "nobody needs a token any more")
	default:
		w.section(reflect.TypeFor[config.Auth](), place{path: "auth"}, w.old.Auth, w.new.Auth)
		w.impliedScopes()
		for _, issuer := range slices.Sorted(maps.Keys(w.new.Opaque)) {
			opaque, ok := w.old.Opaque[issuer]
			w.when(ok && opaque != w.new.Opaque[issuer], "auth.issuers", "of %s, tokens of another kind are accepted", issuer)
		}
	}
}

// comparison collects the ways in which a configuration is wider than the one before it.
type comparison struct {
	old, new *Summary
	opens    []string
	compared int // see maxComparisons
}

// when reports a way once, after the key that opens it.
func (w *comparison) when(wider bool, key, format string, args ...any) {
	if wider {
		w.add(key + ": " + fmt.Sprintf(format, args...))
	}
}

func (w *comparison) add(line string) {
	if !slices.Contains(w.opens, line) {
		w.opens = append(w.opens, line)
	}
}

// tokens reports whether both configurations require tokens.
func (w *comparison) tokens() bool { return w.old.Auth != nil && w.new.Auth != nil }

// place is a section that is compared.
type place struct {
	path   string // of its keys, without names of entries
	prefix string // of reports; "" for the path of the key
	state  string // its path in the states
}

// at returns the place of the section below a key.
func (p place) at(k key) place { return place{join(p.path, k.name), p.prefix, join(p.state, k.name)} }

// entry returns the place of an entry of the list of a key.
func (p place) entry(k key, name string) place {
	below := p.at(k)
	return place{below.path, prefixOf(below.path, name), entryPath(below.state, name)}
}

// section compares the keys of a section one by one. A key that the old summary doesn't know, because an earlier version wrote it, is
// not compared.
func (w *comparison) section(t reflect.Type, p place, old, new State) {
	for _, k := range keysOf(t) {
		if k.has("none") || k.elsewhere() || w.old.Keys[join(p.path, k.name)] != k.form() || k.has("with auth") && !w.tokens() {
			continue
		}
		at := p.at(k)
		was, is := old[at.state], new[at.state]
		if k.isSection() {
			w.section(below(k.field.Type), at, old, new)
		}
		for _, name := range is {
			if k.has("each", "known") && slices.Contains(was, name) {
				w.section(below(k.field.Type), p.entry(k, name), old, new)
			}
		}
		for _, r := range k.rules {
			if entries := w.opened(k, r, was, is); len(entries) > 0 {
				w.report(k, at, was, is, entries)
			}
		}
	}
}

// opened returns the texts that make a key wider by one of its rules; "" stands for the value as a whole.
func (w *comparison) opened(k key, r rule, old, new []string) []string {
	whole := func(wider bool) []string {
		if wider {
			return []string{""}
		}
		return nil
	}
	switch r.kind {
	case "section", "known", "with auth":
		return nil
	case "grants", "each":
		if k.isNumber() {
			return whole(number(new) > number(old))
		}
		return slices.DeleteFunc(r.of(new), func(n string) bool { return slices.ContainsFunc(old, func(o string) bool { return k.covers(o, n) }) })
	case "allows":
		switch {
		case len(old) == 0:
			return nil
		case len(new) == 0:
			return whole(true)
		}
		return slices.DeleteFunc(slices.Clone(new), func(n string) bool { return slices.ContainsFunc(old, func(o string) bool { return k.covers(o, n) }) })
	case "restricts":
		if k.isNumber() {
			return whole(number(new) < number(old))
		}
		return slices.DeleteFunc(r.of(old), func(o string) bool { return slices.Contains(new, o) })
	case "limit":
		if k.isNumber() {
			return whole(number(old) > 0 && (number(new) == 0 || number(new) > number(old)))
		}
		return whole(rateFrom(new).exceeds(rateFrom(old)))
	case "moves":
		return whole(len(old) > 0 && len(new) > 0 && !slices.Equal(old, new))
	case "scopes":
		return whole(!AsStrict(orDefault(new, w.new), orDefault(old, w.old), w.old.Implied))
	case "subset":
		return whole(len(old)+len(new) > 0 && (len(old) == 0 || len(new) == 0 || !contains(old, new)))
	case "superset":
		return whole(!slices.Equal(old, new) && (len(old) == 0 || len(new) == 0 || !contains(new, old)))
	}
	return whole(!slices.Equal(old, new))
}

// of returns the texts that the rule is about.
func (r rule) of(texts []string) []string {
	return slices.DeleteFunc(slices.Clone(texts), func(text string) bool { return r.value != "" && r.kind != "each" && text != r.value })
}

func (k key) isNumber() bool { return reflect.Zero(k.field.Type).CanInt() }

// number returns a number of a state; 0 if it is absent.
func number(texts []string) int64 {
	n, _ := strconv.ParseInt(strings.Join(texts, ""), 10, 64)
	return n
}

// covers reports whether an old entry of a list includes a new one.
func (k key) covers(old, new string) bool {
	switch k.field.Type {
	case reflect.TypeFor[[]host](): // without a port it stands for every port
		return old == new || !strings.Contains(strings.TrimPrefix(new, old), "]") && strings.HasPrefix(new, old+":") && strings.Count(new[len(old):], ":") == 1
	case reflect.TypeFor[[]config.Network]():
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

// isRate reports whether a type is a rate.
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

// rateFrom returns a rate of a state; zero if it is absent.
func rateFrom(texts []string) (r Rate) {
	_ = json.Unmarshal([]byte(strings.Join(texts, "")), &r)
	return r
}

// report adds what a key opens, once for each of the entries if its sentence names one.
func (w *comparison) report(k key, at place, old, new, entries []string) {
	prefix, sentence := at.prefix, k.field.Tag.Get("opens")
	if sentence == "" {
		sentence = sentenceOf(at.path, k.name, len(new) == 0)
		if prefix == "" {
			prefix = at.path + ": "
		}
	}
	switch {
	case k.has("scopes"):
		w.add(prefix + fmt.Sprintf("%s suffices where %s was needed", scopes(orDefault(new, w.new)), scopes(orDefault(old, w.old))))
	case !strings.Contains(sentence, "%"):
		w.add(prefix + sentence)
	case strings.Count(sentence, "%") > 1: // the new value, and the old one
		w.add(prefix + fmt.Sprintf(sentence, strings.Join(new, ""), strings.Join(old, "")))
	default:
		for _, entry := range entries {
			w.add(prefix + fmt.Sprintf(sentence, entry))
		}
	}
}
