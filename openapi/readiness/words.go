package readiness

import (
	"slices"
	"strings"
	"unicode"
)

// words splits a text or an identifier into its words in lower case: "listOrdersByID" has list, orders, by and id.
func words(text string) (all []string) {
	runes := []rune(text)
	from := 0
	flush := func(to int) {
		if to > from {
			all = append(all, strings.ToLower(string(runes[from:to])))
		}
		from = to
	}
	for i, r := range runes {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			flush(i)
			from = i + 1
		case i > 0 && unicode.IsUpper(r) && (unicode.IsLower(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])):
			flush(i)
		}
	}
	flush(len(runes))
	return all
}

// fillers are words that tell no two operations apart.
var fillers = []string{"a", "an", "the", "of", "for", "to", "in", "on", "by", "with", "and", "or", "from", "this", "that", "your", "endpoint", "api", "operation", "method", "request"}

// meaning returns the different words of a text that say something, sorted.
func meaning(text string) []string {
	all := slices.DeleteFunc(words(text), func(w string) bool { return slices.Contains(fillers, w) })
	slices.Sort(all)
	return slices.Compact(all)
}

// stem returns a word without the ending of the plural.
func stem(word string) string {
	switch {
	case len(word) > 4 && strings.HasSuffix(word, "ies"):
		return word[:len(word)-3] + "y"
	case len(word) > 3 && strings.HasSuffix(word, "s") && !strings.HasSuffix(word, "ss"):
		return word[:len(word)-1]
	}
	return word
}

// firstSentence returns the first sentence of a text, without a full stop.
func firstSentence(text string) string {
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n\n")
	text = strings.Join(strings.Fields(text), " ")
	for i := 0; ; {
		n := strings.Index(text[i:], ". ")
		if n < 0 {
			break
		}
		i += n
		before := text[strings.LastIndexByte(text[:i], ' ')+1 : i]
		if next := []rune(text[i+2:]); len(next) > 0 && !unicode.IsLower(next[0]) && !strings.Contains(before, ".") && len(before) > 2 {
			text = text[:i]
			break
		}
		i += 2
	}
	return strings.TrimRight(text, ". ")
}
