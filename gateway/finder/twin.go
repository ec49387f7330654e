package finder

import (
	"hash/fnv"
	"slices"
	"strings"
)

// identity tells which tools do the same in different versions of an API. The zero identity is that of a tool without a
// version in its path, which has no twins.
type identity struct {
	version int16 // rank, which is higher for newer and for stable versions
	// path is the hash of the path without the version, purpose that of the path behind the version, the texts and the
	// arguments.
	path, purpose uint64
}

// identityOf returns the identity of a tool.
func identityOf(t *Tool) (id identity) {
	path := strings.Split(strings.Trim(t.pathOnly(), "/"), "/")
	last := -1 // segment that names a version
	for i, segment := range path {
		if strings.HasPrefix(segment, "{") {
			path[i] = "{}"
		} else if rank := versionOf(segment); rank > 0 {
			id.version, last = rank, i
		}
	}
	if last < 0 {
		return identity{}
	}
	after := path[last+1:]
	id.purpose = hashOf([]string{t.API, t.Method}, after, []string{t.Summary, t.Description}, t.Parameters)
	path[last] = ""
	id.path = hashOf([]string{t.API, t.Method}, path)
	return id
}

func hashOf(lists ...[]string) uint64 {
	h := fnv.New64a()
	for _, list := range lists {
		for _, text := range list {
			_, _ = h.Write([]byte(text))
			_, _ = h.Write([]byte{0})
		}
	}
	return h.Sum64()
}

// isTwin reports whether two tools differ in the version alone: /v1/orders and /v2/orders, or /apis/apps/v1/deployments
// and /apis/extensions/v1beta1/deployments with the same texts and arguments.
func (id *identity) isTwin(other *identity) bool {
	return id.version != 0 && other.version != 0 && (id.path == other.path || id.purpose == other.purpose && id.version != other.version)
}

// versionOf returns the rank of the version that a path segment or a word names, such as v2, v1beta1 or 2.0; 0 if it
// names none.
func versionOf(segment string) (rank int16) {
	digits, ok := strings.CutPrefix(strings.ToLower(segment), "v")
	if !ok || digits == "" {
		return 0
	}
	n, i := 0, 0
	for i < len(digits) && digits[i] >= '0' && digits[i] <= '9' {
		n = min(n*10+int(digits[i]-'0'), 99)
		i++
	}
	if i == 0 {
		return 0
	}
	switch rest := strings.TrimRight(digits[i:], ".0123456789"); rest {
	case "":
		return int16(200 + n)
	case "beta", "rc", "preview":
		return int16(100 + n)
	case "alpha":
		return int16(1 + n)
	}
	return 0
}

// Fold moves the hits that do the same as a better one into its twins, of which the newest stable version leads unless
// the query names a version, and leaves as many hits as the query asks for.
func (x *Index) Fold(r *Result, q Query) {
	namesVersion := false
	words(q.Text, func(word string) { namesVersion = namesVersion || versionOf(word) > 0 })
	limit := max(q.Limit, 0)
	folded := r.Hits[:0]
	for _, hit := range r.Hits {
		t := &x.tools[hit.Tool]
		at := -1
		if t.version > 0 {
			at = slices.IndexFunc(folded, func(h Hit) bool { return t.isTwin(&x.tools[h.Tool].identity) })
		}
		switch {
		case at >= 0:
			r.addTwin(&folded[at], hit.Tool, !namesVersion && !folded[at].Exact && t.version > x.tools[folded[at].Tool].version)
		case len(folded) < limit:
			folded = append(folded, hit)
		}
	}
	r.Hits = folded
}

// addTwin adds a tool to the twins of a hit. If it leads, it takes the hit's place.
func (r *Result) addTwin(hit *Hit, tool int, leads bool) {
	if r.Twins == nil {
		r.Twins = map[int][]int{}
	}
	twins := r.Twins[hit.Tool]
	if leads {
		delete(r.Twins, hit.Tool)
		hit.Tool, tool = tool, hit.Tool
	}
	r.Twins[hit.Tool] = append(twins, tool)
}
