package openapi

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

const maxArgumentName = 64

// argumentName makes a legal argument name, [A-Za-z0-9_.-]{1,64}, of the name of a parameter or property (D10). Runs of
// other characters become one "_", none at the ends: "page[size]" is "page_size", "$top" is "top".
func argumentName(wireName string) string {
	legal := wireName != "" && len(wireName) <= maxArgumentName
	for i := 0; legal && i < len(wireName); i++ {
		legal = legalNameByte(wireName[i])
	}
	if legal {
		return strings.Clone(wireName)
	}
	var b strings.Builder
	gap := false
	for i := range len(wireName) {
		c := wireName[i]
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
	case len(name) > maxArgumentName:
		return suffixed(name, nameHash(wireName))
	}
	return name
}

func legalNameByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '.' || c == '-'
}

// suffixed appends "_" and the suffix, cutting the name so that the whole fits.
func suffixed(name, suffix string) string {
	return name[:min(len(name), maxArgumentName-1-len(suffix))] + "_" + suffix
}

func nameHash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:4])
}

// A named thing becomes an argument: a parameter, or a top-level property of a body.
type named struct {
	wire, location string // location is "path" … "cookie", or "body"
	name           string // of the argument; set by nameArguments
}

// nameArguments names all arguments of one operation, so that each name stands once. What stands in two locations gets
// the location as suffix, on all of them (D10); what still clashes, and is not spelled so in the request itself, gets a
// hash of its own name. Names so depend on the set of names alone, not on their order.
func nameArguments(all []named) {
	count := func(of func(*named) string) map[string]int {
		m := make(map[string]int, len(all))
		for i := range all {
			m[of(&all[i])]++
		}
		return m
	}
	for i := range all {
		all[i].name = argumentName(all[i].wire)
	}
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
			return // the same name twice in one location: the caller has no such pair
		}
	}
}
