package finder

import (
	"cmp"
	"hash/maphash"
	"slices"
	"strings"
	"unicode"
)

// nameHash is the hash of a name's words, with the tool that has the name.
type nameHash struct {
	hash uint64
	tool int32
}

// names finds tools by their whole names: the words of name and operationId, however they are written.
type names struct {
	seed   maphash.Seed
	sorted []nameHash
}

// hash returns the hash of the words of a text; 0 if it has none.
func (n *names) hash(text string) uint64 {
	var h maphash.Hash
	h.SetSeed(n.seed)
	found := false
	words(text, func(word string) {
		found = true
		_, _ = h.WriteString(word)
		_ = h.WriteByte(' ')
	})
	if !found {
		return 0
	}
	return h.Sum64()
}

func (n *names) add(text string, tool int32) {
	if h := n.hash(text); h != 0 {
		n.sorted = append(n.sorted, nameHash{h, tool})
	}
}

func (n *names) sort() {
	slices.SortFunc(n.sorted, func(a, b nameHash) int { return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.tool, b.tool)) })
	n.sorted = slices.Clip(slices.Compact(n.sorted))
}

// find calls yield with the tools of that name.
func (n *names) find(text string, yield func(tool int32)) {
	h := n.hash(text)
	at, found := slices.BinarySearchFunc(n.sorted, h, func(a nameHash, h uint64) int { return cmp.Compare(a.hash, h) })
	for ; found && at < len(n.sorted) && n.sorted[at].hash == h; at++ {
		yield(n.sorted[at].tool)
	}
}

// addNamed marks the hits whose names are the text, or a word in it that looks like a name, and adds those that are
// missing.
func (x *Index) addNamed(hits []Hit, text string, s *scratch) []Hit {
	mark := func(tool int32) {
		if !s.isAllowed(tool) {
			return
		}
		at := slices.IndexFunc(hits, func(h Hit) bool { return h.Tool == int(tool) })
		if at < 0 {
			at = len(hits)
			hits = append(hits, Hit{Tool: int(tool)})
		}
		hits[at].Exact = true
	}
	x.names.find(text, mark)
	for token := range strings.FieldsSeq(text) {
		if looksLikeName(token) && len(token) < len(text) {
			x.names.find(token, mark)
		}
	}
	return hits
}

// looksLikeName reports whether a word of a query can only be a name: get_order, orders/get, chat.postMessage, getOrder.
func looksLikeName(token string) bool {
	previous := rune(0)
	for _, r := range strings.Trim(token, "/.,;:?!`'\"()") {
		if strings.ContainsRune("_/.", r) || unicode.IsUpper(r) && unicode.IsLower(previous) {
			return true
		}
		previous = r
	}
	return false
}

// joined returns the words of the name of an API as one lower-case word.
func joined(name string) string {
	var b strings.Builder
	words(name, func(word string) { b.WriteString(word) })
	return b.String()
}

// readAPI adds the APIs that a word names, alone or with the word before it.
func (x *Index) readAPI(p *parsed, previous, word string) {
	for i, api := range x.apis {
		if (api == word || len(previous)+len(word) == len(api) && api == previous+word) && !slices.Contains(p.named, int32(i)) {
			p.named = append(p.named, int32(i))
		}
	}
}

// minPrefix is the length in bytes of the shortest word that names an API by the beginning of its name.
const minPrefix = 4

// prefixed returns the APIs whose names begin with a word: mailpit for mail.
func (x *Index) prefixed(word string) (apis []int32) {
	if len(word) < minPrefix {
		return nil
	}
	for i, api := range x.apis {
		if len(word) < len(api) && strings.HasPrefix(api, word) {
			apis = append(apis, int32(i))
		}
	}
	return apis
}

// apiFactor returns the boost of the tools of an API that the query names.
func (p *parsed) apiFactor(api int32) float64 {
	if slices.Contains(p.named, api) {
		return apiFactor
	}
	return 1
}
