package finder

import "strings"

// segments returns the path segments that are not variables.
func (t *Tool) segments() (fixed []string) {
	for segment := range strings.SplitSeq(strings.Trim(t.pathOnly(), "/"), "/") {
		if segment != "" && !strings.HasPrefix(segment, "{") {
			fixed = append(fixed, segment)
		}
	}
	return fixed
}

// endsInVariable reports whether the path names one item: its last segment is a variable.
func (t *Tool) endsInVariable() bool {
	path := strings.TrimRight(t.pathOnly(), "/")
	return strings.HasPrefix(path[strings.LastIndexByte(path, '/')+1:], "{")
}

// pathOnly returns the path without the query that some documents append to it.
func (t *Tool) pathOnly() string {
	if at := strings.IndexAny(t.Path, "?#"); at >= 0 {
		return t.Path[:at]
	}
	return t.Path
}

// listingWords are the words in the last path segment of a POST that asks for the items of a collection, whose filter is
// too long for a query string: /orders/search, /orders:query, /orders/_search.
var listingWords = wordSet("filter find list query search")

// collection returns the words of the collection that a POST lists or searches; nil if the tool does anything else.
func (t *Tool) collection() []string {
	fixed := t.segments()
	if t.Method != "POST" || len(fixed) == 0 || t.endsInVariable() || !isListing(verbOf(t, languages[0].reduce)) {
		return nil
	}
	of, lists := itemsOf(fixed[len(fixed)-1])
	if lists && len(of) == 0 && len(fixed) > 1 {
		of, _ = itemsOf(fixed[len(fixed)-2])
	}
	if !lists {
		return nil
	}
	return of
}

// isListing reports whether a tool whose texts have that verb may list: "Query orders", or no verb at all.
func isListing(verb action) bool { return verb == read || verb == noAction }

// itemsOf returns the words of a path segment without those that ask for a list, and whether it had any of these.
func itemsOf(segment string) (items []string, lists bool) {
	words(segment, func(word string) {
		if listingWords[word] {
			lists = true
		} else {
			items = append(items, word)
		}
	})
	return items, lists
}
