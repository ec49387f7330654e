package catalog

import (
	"strings"
	"unicode"
)

// wordsIn returns the words of a name, in lower case: "listUserIDs_v1" has list, user, ids and v1.
func wordsIn(name string) (words []string) {
	for _, part := range partsOf(name) {
		words = append(words, strings.ToLower(part))
	}
	return words
}

// partsOf returns the words of a name as they are written.
func partsOf(name string) (parts []string) {
	begin := 0
	for _, end := range wordEnds(name) {
		if part := strings.TrimFunc(name[begin:end], isSeparator); part != "" {
			parts = append(parts, part)
		}
		begin = end
	}
	return parts
}

// wordEnds returns the offsets in an ASCII name at which a word ends, the last of which is its length.
func wordEnds(name string) (ends []int) {
	at := func(i int) rune {
		if i < 0 || i >= len(name) {
			return 0
		}
		return rune(name[i])
	}
	for i := 1; i < len(name); i++ {
		before, r := at(i-1), at(i)
		switch {
		case isSeparator(r) && !isSeparator(before),
			unicode.IsUpper(r) && (unicode.IsLower(before) || unicode.IsDigit(before)),
			// "APIKey": the last capital begins the next word, unless a plural ends there, as in "userIDs".
			unicode.IsUpper(r) && unicode.IsUpper(before) && unicode.IsLower(at(i+1)) && (at(i+1) != 's' || unicode.IsLower(at(i+2))):
			ends = append(ends, i)
		}
	}
	return append(ends, len(name))
}

func isSeparator(r rune) bool { return r == '_' || r == '-' }

// cutWords returns the beginning of a name that has whole words and at most limit characters, or a part of its first word.
func cutWords(name string, limit int) string {
	if len(name) <= limit {
		return name
	}
	best := 0
	for _, end := range wordEnds(name) {
		if end <= limit {
			best = end
		}
	}
	if best == 0 {
		best = max(limit, 0)
	}
	return strings.TrimRight(name[:best], "_-")
}

// squeezed returns the letters and digits of a text in lower case.
func squeezed(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}
