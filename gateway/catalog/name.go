package catalog

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"drawbridge/openapi"
	"drawbridge/openapi/text"
)

// candidate is an operation that is being named.
type candidate struct {
	api       string
	yields    bool   // see API.Yields
	formerAPI string // the name of the API in the previous release
	op        *openapi.Operation
	choice    Choice
	exposed   bool

	full string // the name without clashes, of any length
	// lost reports that full was transliterated from a form that others share.
	lost bool
	// digit reports that full begins with "_" because a digit would be its first character.
	digit bool
	// derived reports that the document does not contain full in these letters: it yields to a name
	// that does.
	derived bool
	// renamed reports that the previous release derived another full name.
	renamed bool
	// long is the id that full is a part of, used if full clashes; "" if full is all of it.
	long     string
	twin     string // the full name that it shares with others of its API, see nameTwins; "" if it shares none
	suffixed bool   // the name has a suffix because of a clash, its length, or loss
	ordinal  int    // among those with equal hashes
	name     string
	byID     string   // the name of the operationId if name is a short one
	former   []string // the other names that the tool had or would have, see Tool.Former

	said, description string // for models: from the document, and with what distinguishes it
}

// shown returns the operation with the arguments that callers see.
func (c *candidate) shown() *openapi.Operation {
	if c.choice.Shown != nil {
		return c.choice.Shown
	}
	return c.op
}

const (
	defaultMaxName = 64
	digits         = 8 // of the hash in a suffix
)

// Clash is a name that tools of several APIs would have. While all of them exist, each has another
// name that ends in a hash, except those of APIs that don't yield if others do.
type Clash struct {
	Name string
	APIs []string // sorted
}

// name gives every candidate a unique name. A name depends on the operation, the options and
// the clashes only, so that no order can change it (S9). Clashes between APIs, which it returns,
// depend on which of them could be read.
func name(candidates []*candidate, o Options) (between []Clash) {
	between = nameByID(candidates, o)
	if o.Names == Short {
		for _, c := range candidates {
			c.byID, c.former, c.twin, c.lost = c.name, nil, "", false
		}
		between = nameShort(candidates, o)
		for _, c := range candidates {
			c.addFormer([]string{c.byID})
		}
	}
	for _, c := range candidates {
		c.addFormer(o.Published[keyOf(c)].Names)
	}
	return between
}

// nameByID gives every candidate the name that its operationId says, or else method and path.
func nameByID(candidates []*candidate, o Options) (between []Clash) {
	limit, prefixed := o.limit(), o.prefixed()
	functions := functionsOf(candidates)
	for _, c := range candidates {
		c.derive(prefixed)
		if f := functions[c]; f != "" && len(c.full) > limit && c.choice.Name == "" {
			if prefixed {
				f = prefix(c.api, f)
			}
			if f = withLetter(f); len(f) <= limit {
				c.full, c.long, c.lost, c.derived, c.renamed = f, c.full, false, true, true
			}
		}
		reserved := slices.Contains(o.Reserved, c.full)
		c.renamed = c.renamed || reserved
		c.suffixed = c.lost || len(c.full) > limit || reserved
		c.rename(limit)
	}
	nameTwins(candidates, limit)
	between = settleAll(candidates, limit)
	setFormerNames(candidates, o)
	return between
}

func (o Options) limit() int {
	if o.MaxName == 0 {
		return defaultMaxName
	}
	return min(max(o.MaxName, 16), 128)
}

func (o Options) prefixed() bool { return o.Prefix == Always || o.Prefix == Auto && o.APIs > 1 }

// settleAll resolves clashes of names.
func settleAll(candidates []*candidate, limit int) (between []Clash) {
	// A name with a suffix can equal the full name of another. That one then gets its own suffix,
	// until all are different.
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

// betweenAPIs returns the clashes of a tool with another API, by name.
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

// settle adds the suffix to all candidates of a clash, or only to those that yield: those of APIs that
// yield first, then derived names. Candidates with
// equal names even with their hashes, because of equal method and path or hash prefixes, are
// numbered in an order that depends on themselves only.
func settle(clash []*candidate) {
	more := false
	if slices.ContainsFunc(clash, func(c *candidate) bool { return !c.yields }) {
		for _, c := range clash {
			if c.yields && !c.suffixed {
				c.yield()
				more = true
			}
		}
	}
	if more {
		return
	}
	for _, c := range clash {
		if c.derived && !c.suffixed {
			c.yield()
			more = true
		}
	}
	if more {
		return
	}
	for _, c := range clash {
		more = more || !c.suffixed
		c.suffixed = true
	}
	if more {
		return
	}
	last := func(c *candidate) int {
		if c.yields {
			return 1
		}
		return 0
	}
	slices.SortFunc(clash, func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(last(a), last(b)), cmp.Compare(a.hash(), b.hash()), cmp.Compare(a.full, b.full), cmp.Compare(a.op.Pointer, b.op.Pointer))
	})
	for i, c := range clash {
		c.ordinal += i
	}
}

// yield gives a derived name the suffix. A function's name is replaced by the id that it is a part
// of.
func (c *candidate) yield() {
	if c.long != "" {
		c.full = c.long
	}
	c.suffixed = true
}

// derive derives the full name: the configured one, the operation's id, or else method and path,
// which also replace an id without letters.
func (c *candidate) derive(prefixed bool) {
	if c.full = c.configuredName(); c.full != "" {
		return
	}
	source := c.op.ID
	name, lost := transliterated(source)
	if !strings.ContainsFunc(name, isLetter) {
		c.renamed = name != ""
		path, _, _ := strings.Cut(c.op.Path, "?")
		source = strings.ToLower(c.op.Method) + "_" + path
		name, lost = transliterated(source)
	}
	if prefixed {
		name = prefix(c.api, name)
	}
	c.full, c.lost, c.derived = withLetter(name), lost, text.NeedsLatin(source)
	c.digit = c.full != name
	c.renamed = c.renamed || c.derived || c.digit
}

// configuredName returns the name that a rule gives; "" if there is none.
func (c *candidate) configuredName() string {
	name := sanitize(c.choice.Name)
	if strings.HasPrefix(c.choice.Name, "_") {
		return withLetter(name) // the configuration can also name a tool with a digit in front
	}
	return name
}

// withLetter puts "_" before a name that begins with a digit: Gemini refuses the whole list otherwise (pains row 172).
func withLetter(name string) string {
	if name != "" && '0' <= name[0] && name[0] <= '9' {
		return "_" + name
	}
	return name
}

func prefix(api, name string) string {
	if api = sanitize(api); api != "" {
		return api + "_" + name
	}
	return name
}

// transliterated is sanitize for a text in any script.
func transliterated(raw string) (name string, lost bool) {
	raw, lost = text.Latin(raw)
	return sanitize(raw), lost
}

func isLetter(r rune) bool { return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' }

// rename truncates and suffixes the full name as needed.
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

// hash returns the hash of what identifies an operation in every version of a document: its API,
// method and path template.
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

// sanitize replaces every run of characters outside [A-Za-z0-9_-] by one "_", and trims them at the
// ends.
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
