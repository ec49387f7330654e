package text

import (
	"slices"
	"strings"
)

const (
	longest   = 64 // bytes of a name that is compared
	maxEdits  = 2  // maximum number of different letters
	minCommon = 3  // minimum number of letters in common with another name that begins with it or contains it
)

var withoutSeparators = strings.NewReplacer("-", "", "_", "", ".", "", " ", "")

// fold returns a name without details that are easily mistaken: case, and the characters between its words.
func fold(name string) string { return strings.ToLower(withoutSeparators.Replace(name)) }

// Nearest returns the name that was probably meant, or "": one that is the same except for case and separators or has
// at most two different letters, or else one that the given name begins with, or the other way round. Of equally near
// names, it is the first.
func Nearest(given string, names []string) string {
	if len(given) > longest {
		return ""
	}
	if name := byEdits(given, names); name != "" {
		return name
	}
	i := slices.IndexFunc(names, func(name string) bool {
		return len(given) >= minCommon && (strings.HasPrefix(name, given) || strings.HasPrefix(given, name) && len(name) >= minCommon)
	})
	if i < 0 {
		return ""
	}
	return names[i]
}

// NearestFew returns a limited number of names that may have been meant: that of [Nearest], and those that contain the
// given name or are part of it, ignoring case.
func NearestFew(given string, names []string, most int) (near []string) {
	if name := Nearest(given, names); name != "" {
		near = append(near, name)
	}
	if len(given) < minCommon || len(given) > longest {
		return near
	}
	given = strings.ToLower(given)
	for _, name := range names {
		if len(near) >= most {
			break
		}
		known := strings.ToLower(name)
		if !slices.Contains(near, name) && (strings.Contains(known, given) || len(known) >= minCommon && strings.Contains(given, known)) {
			near = append(near, name)
		}
	}
	return near
}

// byEdits returns the name with the fewest different letters, or "" if all have too many.
func byEdits(given string, names []string) string {
	best, least := "", maxEdits+1
	given = fold(given)
	for _, name := range names {
		if len(name) > longest {
			continue
		}
		folded := fold(name)
		most := min(maxEdits, len(name)/3)
		if off := len(folded) - len(given); off > most || -off > most {
			continue
		}
		if d := distance(given, folded); d <= most && d < least {
			best, least = name, d
		}
	}
	return best
}

// distance returns the number of letters to insert, remove, replace or swap with their neighbour to turn a into b
// (optimal string alignment).
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range a {
		row[0] = i + 1
		for j := range b {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(last[j]+cost, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

// Typo returns the name of which the given one is a misspelling, or "": the same except for case and separators, or one
// different letter, two if the name has nine letters or more. Unlike for [Nearest], short names and prefixes don't
// count, because the caller needs certainty.
func Typo(given string, names []string) string {
	if len(given) > longest {
		return ""
	}
	best, least := "", maxEdits+1
	folded := fold(given)
	for _, name := range names {
		known, most := fold(name), 0
		switch {
		case len(name) >= longTypo:
			most = 2
		case len(name) > shortTypo:
			most = 1
		}
		if off := len(known) - len(folded); off > most || -off > most || len(folded) < shortTypo && known != folded {
			continue
		}
		if d := distance(folded, known); d <= most && d < least {
			best, least = name, d
		}
	}
	return best
}

const (
	shortTypo = 3 // letters of the shortest misspelling with a wrong letter
	longTypo  = 9 // letters of a name that may have two wrong ones
)
