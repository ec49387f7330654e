package openapi

import (
	"fmt"
	"strings"
)

// placeholder returns the first placeholder of a text that a build or a framework should have replaced: ${name},
// ${name:default}, #{expression}, also with escaped braces. It is "" if there is none. Names that are declared as
// parameters are those of template literals, ${id}, and not placeholders.
func placeholder(text string, declared func(name string) bool) string {
	for at := 0; at < len(text); at++ {
		sign, inner := openingOf(text[at:])
		if sign == 0 {
			continue
		}
		rest := text[at+sign:]
		end, closing := closingOf(rest[inner:])
		if end < 0 {
			return text[at:]
		}
		name := strings.TrimSpace(rest[inner : inner+end])
		if !declared(name) {
			return text[at : at+sign+inner+end+closing]
		}
		at += sign + inner + end + closing - 1
	}
	return ""
}

// openingOf returns the lengths of the sign and of the brace that begin a placeholder; 0 and 0 if there is none.
func openingOf(text string) (sign, brace int) {
	for _, s := range []string{"$", "#", "%24", "%23"} {
		if !strings.HasPrefix(text, s) {
			continue
		}
		for _, b := range []string{"{", "%7B", "%7b"} {
			if strings.HasPrefix(text[len(s):], b) {
				return len(s), len(b)
			}
		}
	}
	return 0, 0
}

// closingOf returns the offset of the brace that matches one before text, and its length, or -1.
func closingOf(text string) (at, length int) {
	depth := 1
	for i := range len(text) {
		n, step := 0, 0
		switch {
		case text[i] == '{':
			n, step = 1, 1
		case text[i] == '}':
			n, step = 1, -1
		case len(text) >= i+3 && strings.EqualFold(text[i:i+3], "%7B"):
			n, step = 3, 1
		case len(text) >= i+3 && strings.EqualFold(text[i:i+3], "%7D"):
			n, step = 3, -1
		}
		if depth += step; depth == 0 {
			return i, n
		}
	}
	return -1, 0
}

// checkPlaceholder returns the reason to skip an operation whose path has unreplaced placeholders.
func checkPlaceholder(path string, declared func(name string) bool) error {
	if p := placeholder(path, declared); p != "" {
		return coded(codeSkipPath, skip(nil, "its path %q holds the placeholder %s, which nothing has replaced; have the document generated with its value, or correct it by an overlay",
			path, fmt.Sprintf("%.100q", p)))
	}
	return nil
}
