package text

import (
	"slices"
	"strings"
)

const (
	longest    = 64 // bytes of a name that is worth comparing
	mostEdits  = 2  // letters that a name may be off
	fewestSame = 3  // letters that a name must share with another that begins with it or contains it
)

var withoutSeparators = strings.NewReplacer("-", "", "_", "", ".", "", " ", "")

// fold returns a name without what is easily mistaken: case, and the characters between its words.
func fold(name string) string { return strings.ToLower(withoutSeparators.Replace(name)) }

// Nearest returns the name that was probably meant, or "": one that is the same but for case and separators or at most two
// letters off, else one that the given name begins with, or the other way round. Of names that are as near, it is the first.
func Nearest(given string, names []string) string {
	if len(given) > longest {
		return ""
	}
	if name := byEdits(given, names); name != "" {
		return name
	}
	i := slices.IndexFunc(names, func(name string) bool {
		return len(given) >= fewestSame && (strings.HasPrefix(name, given) || strings.HasPrefix(given, name) && len(name) >= fewestSame)
	})
	if i < 0 {
		return ""
	}
	return names[i]
}

// NearestFew returns at most so many names that may have been meant: that of [Nearest], and those that contain the given name or are part
// of it, whatever their case.
func NearestFew(given string, names []string, most int) (near []string) {
	if name := Nearest(given, names); name != "" {
		near = append(near, name)
	}
	if len(given) < fewestSame || len(given) > longest {
		return near
	}
	given = strings.ToLower(given)
	for _, name := range names {
		if len(near) >= most {
			break
		}
		known := strings.ToLower(name)
		if !slices.Contains(near, name) && (strings.Contains(known, given) || len(known) >= fewestSame && strings.Contains(given, known)) {
			near = append(near, name)
		}
	}
	return near
}

// byEdits returns the name that is the fewest letters off, or "" if all are too many.
func byEdits(given string, names []string) string {
	best, least := "", mostEdits+1
	given = fold(given)
	for _, name := range names {
		if len(name) > longest {
			continue
		}
		folded := fold(name)
		most := min(mostEdits, len(name)/3)
		if off := len(folded) - len(given); off > most || -off > most {
			continue
		}
		if d := distance(given, folded); d <= most && d < least {
			best, least = name, d
		}
	}
	return best
}

// distance is the number of letters to insert, remove, replace or swap with their neighbour to turn a into b (optimal
// string alignment).
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

// Typo returns the name of which the given one is a misspelling, or "": the same but for case and separators, or one letter off, two where
// the name has nine letters or more. Short names and beginnings of names are none, as they are for [Nearest]: who asks has no use for a guess.
func Typo(given string, names []string) string {
	if len(given) > longest {
		return ""
	}
	best, least := "", mostEdits+1
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
	shortTypo = 3 // letters of the shortest misspelling that has a wrong letter
	longTypo  = 9 // letters of a name that is misspelt by two
)
