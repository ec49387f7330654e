package openapi

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"drawbridge/openapi/text"
)

const maxArgumentName = 64

// argumentName makes a legal argument name, [A-Za-z0-9_.-]{1,64}, from the name of a parameter or property. Runs
// of other characters become one "_", none at the ends: "page[size]" is "page_size", "$top" is "top". A name in another
// script is transliterated, and ends in a hash if others would have the same transliteration.
func argumentName(wireName string) string {
	text, lost := text.Latin(wireName)
	return legalName(wireName, text, lost)
}

// legalName makes an argument name from the text of a name, or its transliteration.
func legalName(wireName, text string, hashed bool) string {
	legal := wireName != "" && len(wireName) <= maxArgumentName
	for i := 0; legal && i < len(wireName); i++ {
		legal = legalNameByte(wireName[i])
	}
	if legal {
		return strings.Clone(wireName)
	}
	var b strings.Builder
	gap := false
	for i := range len(text) {
		c := text[i]
		if !legalNameByte(c) {
			gap = b.Len() > 0
			continue
		}
		if gap {
			b.WriteByte('_')
			gap = false
		}
		b.WriteByte(c)
	}
	name := b.String()
	switch {
	case name == "":
		return "arg_" + nameHash(wireName)
	case hashed, len(name) > maxArgumentName:
		return suffixed(name, nameHash(wireName))
	}
	return name
}

// formerName is argumentName of the previous release, which dropped all letters outside ASCII.
func formerName(wireName string) string { return legalName(wireName, wireName, false) }

func legalNameByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '.' || c == '-'
}

// suffixed appends "_" and the suffix, and cuts the name so that the whole fits.
func suffixed(name, suffix string) string {
	return name[:min(len(name), maxArgumentName-1-len(suffix))] + "_" + suffix
}

func nameHash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:4])
}

// A named element becomes an argument: a parameter, or a top-level property of a body.
type named struct {
	wire, location string // location is "path" … "cookie", or "body"
	name           string // of the argument; set by nameArguments
}

// formerNames maps the names of arguments in the previous release to their current names, if these differ.
func formerNames(all []named) map[string]string {
	if !slices.ContainsFunc(all, func(n named) bool { return text.NeedsLatin(n.wire) }) {
		return nil
	}
	before := slices.Clone(all)
	nameAll(before, formerName)
	former := make(map[string]string)
	for i, n := range all {
		if before[i].name != n.name {
			former[before[i].name] = n.name
		}
	}
	for _, n := range all {
		delete(former, n.name) // it is the name of another argument now
	}
	return former
}

// nameArguments names all arguments of one operation uniquely. A name in two locations gets the location as suffix in
// both. A name that still collides, and is not the exact name in the request, gets a hash of its own name. So
// names depend only on the set of names, not on their order.
func nameArguments(all []named) {
	nameAll(all, argumentName)
}

func nameAll(all []named, nameOf func(wireName string) string) {
	count := func(of func(*named) string) map[string]int {
		m := make(map[string]int, len(all))
		for i := range all {
			m[of(&all[i])]++
		}
		return m
	}
	for i := range all {
		all[i].name = nameOf(all[i].wire)
	}
	makeWay(all)
	locations := make(map[string]string, len(all))
	several := make(map[string]bool)
	for _, n := range all {
		if other, ok := locations[n.name]; ok && other != n.location {
			several[n.name] = true
		}
		locations[n.name] = n.location
	}
	plain := make([]string, len(all))
	for i := range all {
		n := &all[i]
		plain[i] = n.name
		if several[n.name] {
			n.name = suffixed(n.name, n.location)
		}
	}
	byName := func(n *named) string { return n.name }
	for clashes := count(byName); len(clashes) < len(all); clashes = count(byName) {
		changed := false
		for i := range all {
			n := &all[i]
			if clashes[n.name] > 1 && (n.wire != plain[i] || several[plain[i]]) {
				if hashed := suffixed(n.name, nameHash(n.location+"\x00"+n.wire)); hashed != n.name {
					n.name, changed = hashed, true
				}
			}
		}
		if !changed {
			return // the same name twice in one location: valid documents have no such pair
		}
	}
}

// makeWay adds a hash to transliterated names that collide with others; an exact name in the request keeps its form.
func makeWay(all []named) {
	if !slices.ContainsFunc(all, func(n named) bool { return text.NeedsLatin(n.wire) }) {
		return
	}
	wires := make(map[string]string, len(all))
	several := make(map[string]bool)
	for _, n := range all {
		if other, ok := wires[n.name]; ok && other != n.wire {
			several[n.name] = true
		}
		wires[n.name] = n.wire
	}
	for i := range all {
		if n := &all[i]; several[n.name] && text.NeedsLatin(n.wire) {
			n.name = suffixed(n.name, nameHash(n.wire))
		}
	}
}
