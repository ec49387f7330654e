package finder

import "unicode/utf8"

const (
	// shortestGuess is the minimum length in characters of a word whose spelling is corrected.
	shortestGuess = 4
	// longestSuffix is the maximum length in bytes of the suffix that is ignored if one word begins with the other.
	longestSuffix = 4
	// shortestPrefix is the minimum length in bytes of a common prefix.
	shortestPrefix = 5
)

// resemble reports whether an unknown word may stand for a known one: it differs by one edit (a character that is
// replaced, missing or added, or two that are swapped), or one of the two begins with the other.
func resemble(unknown, known string) bool {
	if utf8.RuneCountInString(unknown) < shortestGuess {
		return false
	}
	if len(unknown) >= shortestPrefix && len(known) >= shortestPrefix {
		short, long := unknown, known
		if len(short) > len(long) {
			short, long = long, short
		}
		if long[:len(short)] == short && len(long)-len(short) <= longestSuffix {
			return true
		}
	}
	return withinOneEdit(unknown, known)
}

// withinOneEdit compares bytes: beyond ASCII, one edit may change several of them, which is not recognized.
func withinOneEdit(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(b)-len(a) > 1 {
		return false
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	switch {
	case len(a) < len(b):
		return a[i:] == b[i+1:]
	case i == len(a), a[i+1:] == b[i+1:]:
		return true
	}
	return i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
}
