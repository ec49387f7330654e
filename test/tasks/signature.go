package main

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// hit is a tool in an answer of search_tools.
type hit struct {
	tool      string
	arguments string // the signature's part in parentheses
	text      string // the signature and the lines below it
}

var signature = regexp.MustCompile(`(?m)^([A-Za-z0-9_.-]+)\(`)

// hits reads an answer of search_tools: signatures that begin a line.
func hits(answer string) (all []hit) {
	begins := signature.FindAllStringSubmatchIndex(answer, -1)
	for i, at := range begins {
		end := len(answer)
		if i+1 < len(begins) {
			end = begins[i+1][0]
		}
		text := answer[at[0]:end]
		all = append(all, hit{tool: answer[at[2]:at[3]], arguments: parenthesized(answer[at[1]:end]), text: text})
	}
	return all
}

// parenthesized returns the text up to the parenthesis that closes the one before it, without the texts in quotes that are values.
func parenthesized(text string) string {
	depth := 1
	for i, c := range text {
		switch c {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return text[:i]
			}
		}
	}
	return text
}

// hidden returns the names of the members of arguments that a text doesn't show. The members of those that are free are data.
func hidden(arguments any, free []string, shown string) []string {
	missing := map[string]bool{}
	var visit func(value any)
	visit = func(value any) {
		switch value := value.(type) {
		case []any:
			for _, item := range value {
				visit(item)
			}
		case map[string]any:
			for name, member := range value {
				if !shows(shown, name) {
					missing[name] = true
				}
				if !slices.Contains(free, name) {
					visit(member)
				}
			}
		}
	}
	visit(arguments)
	return slices.Sorted(maps.Keys(missing))
}

// shows tells whether a name stands in a text as a word of its own.
func shows(text, name string) bool {
	for rest := text; ; {
		i := strings.Index(rest, name)
		if i < 0 {
			return false
		}
		end := i + len(name)
		if (i == 0 || !inWord(rest[i-1])) && (end == len(rest) || !inWord(rest[end])) {
			return true
		}
		rest = rest[end:]
	}
}

func inWord(c byte) bool {
	return c == '_' || c == '-' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
