package catalog

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"drawbridge/openapi"
)

// A candidate is an operation on its way to a name.
type candidate struct {
	api     string
	op      *openapi.Operation
	choice  Choice
	exposed bool

	full     string // the name that it would have were it alone, of any length
	suffixed bool   // it is one of a clash, or had to be cut
	ordinal  int    // among those that a hash doesn't tell apart
	name     string
}

const (
	defaultMaxName = 64
	digits         = 8 // of the hash in a suffix
)

// A Clash is a name that tools of several APIs would have. As long as all of these are there, each has another instead, which ends in a hash.
type Clash struct {
	Name string
	APIs []string // sorted
}

// name gives every candidate a name of its own (D11). A name depends on the operation, the options and the clashes, and
// on nothing else, so that no order can change it (S9). Clashes between APIs, which it returns, depend on which of them could be read.
func name(candidates []*candidate, o Options) (between []Clash) {
	limit := defaultMaxName
	if o.MaxName != 0 {
		limit = min(max(o.MaxName, 16), 128)
	}
	prefixed := o.Prefix == Always || o.Prefix == Auto && o.APIs > 1
	for _, c := range candidates {
		c.full = fullName(c, prefixed)
		c.suffixed = len(c.full) > limit
		c.rename(limit)
	}
	// A name with a suffix can be the full name of another. That one then gets its own suffix, until all are different.
	clashes := clashesOf(candidates)
	between = betweenAPIs(clashes)
	for ; len(clashes) > 0; clashes = clashesOf(candidates) {
		for _, clash := range clashes {
			settle(clash)
			for _, c := range clash {
				c.rename(limit)
			}
		}
	}
	return between
}

// betweenAPIs returns those of the clashes that have to do with a tool and another API, by name.
func betweenAPIs(clashes [][]*candidate) (between []Clash) {
	for _, same := range clashes {
		var apis []string
		exposed := false
		for _, c := range same {
			apis = append(apis, c.api)
			exposed = exposed || c.exposed
		}
		slices.Sort(apis)
		if apis = slices.Compact(apis); exposed && len(apis) > 1 {
			between = append(between, Clash{same[0].name, apis})
		}
	}
	slices.SortFunc(between, func(a, b Clash) int { return cmp.Compare(a.Name, b.Name) })
	return between
}

// settle gives the suffix to all of a clash. Those that have the same name even with their hashes, having the same method
// and path or hashes that begin alike, are counted, in an order that only depends on themselves.
func settle(clash []*candidate) {
	more := false
	for _, c := range clash {
		more = more || !c.suffixed
		c.suffixed = true
	}
	if more {
		return
	}
	slices.SortFunc(clash, func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(a.hash(), b.hash()), cmp.Compare(a.full, b.full), cmp.Compare(a.op.Pointer, b.op.Pointer))
	})
	for i, c := range clash {
		c.ordinal += i
	}
}

func fullName(c *candidate, prefixed bool) string {
	if name := sanitize(c.choice.Name); name != "" {
		return name
	}
	name := sanitize(c.op.ID)
	if name == "" {
		path, _, _ := strings.Cut(c.op.Path, "?")
		name = sanitize(strings.ToLower(c.op.Method) + "_" + path)
	}
	if prefixed {
		if prefix := sanitize(c.api); prefix != "" {
			return prefix + "_" + name
		}
	}
	return name
}

// rename cuts and suffixes the full name as is needed.
func (c *candidate) rename(limit int) {
	if c.name = c.full; c.suffixed {
		c.name = cut(c.full, limit-digits-1) + "_" + c.hash()[:digits]
	}
	if c.ordinal > 0 {
		n := "_" + strconv.Itoa(c.ordinal+1)
		c.name = cut(c.name, limit-len(n)) + n
	}
}

func cut(name string, limit int) string {
	if len(name) > limit {
		name = name[:limit]
	}
	return strings.TrimRight(name, "_-")
}

// hash is that of what tells operations apart in every version of a document: its API, method and path template.
func (c *candidate) hash() string {
	sum := sha256.Sum256([]byte(c.api + "\x00" + c.op.Method + "\x00" + c.op.Path))
	return hex.EncodeToString(sum[:])
}

// clashesOf returns the candidates that share a name with another.
func clashesOf(candidates []*candidate) [][]*candidate {
	byName := make(map[string][]*candidate, len(candidates))
	for _, c := range candidates {
		byName[c.name] = append(byName[c.name], c)
	}
	var found [][]*candidate
	for _, same := range byName {
		if len(same) > 1 {
			found = append(found, same)
		}
	}
	return found
}

// sanitize replaces every run of characters outside [A-Za-z0-9_-] by one "_". Those at the ends go.
func sanitize(s string) string {
	var b strings.Builder
	gap := false
	for i := range len(s) {
		c := s[i]
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_' {
			if gap && b.Len() > 0 && c != '_' {
				b.WriteByte('_')
			}
			gap = false
			b.WriteByte(c)
		} else {
			gap = gap || b.Len() > 0 && !strings.HasSuffix(b.String(), "_")
		}
	}
	return strings.Trim(b.String(), "_-")
}
