package config

import (
	"fmt"
	"slices"
	"strings"
)

func didYouMean(word string) string {
	if word == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", word)
}

// Nearest returns the word that was probably meant by another, or "".
func Nearest(given string, words []string) string { return nearest(given, words) }

// nearest returns the word that was probably meant, or "": the same but for case, - and _, or a few letters off.
func nearest(given string, words []string) string {
	const longest = 64 // of a word worth comparing
	if len(given) > longest {
		return ""
	}
	fold := func(s string) string {
		return strings.ToLower(strings.NewReplacer("-", "", "_", "", ".", "").Replace(s))
	}
	best, least := "", 0
	for _, w := range words {
		d := distance(fold(given), fold(w))
		if d <= min(2, len(w)/3) && (best == "" || d < least) {
			best, least = w, d
		}
	}
	if best == "" {
		// A word's beginning or a plural is near as well.
		i := slices.IndexFunc(words, func(w string) bool {
			return len(given) >= 3 && (strings.HasPrefix(w, given) || strings.HasPrefix(given, w) && len(w) >= 3)
		})
		if i >= 0 {
			best = words[i]
		}
	}
	return best
}

// distance counts the letters to insert, remove, replace or swap with their neighbour to make a into b.
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
