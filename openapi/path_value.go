package openapi

import (
	"regexp"
	"slices"
	"strings"

	"drawbridge/openapi/schema"
	"drawbridge/openapi/text"
	"drawbridge/openapi/tree"
)

// Many documents are generated from services that accept a path, a key or a Git reference in the last position of a URL, and say so only by the
// parameter's name, format or description. This file recognizes these parameters (ADR 0069).

// pathFormats are formats of values that are paths.
var pathFormats = []string{"path", "file-path", "filepath", "relative-path", "directory-path", "uri-path"}

// pathNames are last words of names of parameters that are paths or Git references; wholeNames are such names as a whole.
var (
	pathNames  = []string{"path", "filepath", "pathname", "directory", "ref", "refname", "branch"}
	wholeNames = []string{"key", "object key", "file key", "blob name", "object name", "branch name", "ref name", "branch ref"}
)

// describedPath matches descriptions, in lower case, of values that are paths, keys of objects, or Git references. Each match has one of
// pathWords.
var describedPath = regexp.MustCompile(`\b(?:path (?:to|of|within|in|relative|from)|(?:file|files|folder|directory|object|resource|asset|document|notebook|relative|full|absolute|repository|storage|s3) path|` +
	`(?:object|storage|s3) key|branch name|name of (?:a|the) branch|git ref(?:erence)?|ref name)\b`)

var pathWords = []string{"path", "key", "branch", "ref"}

// negated matches the words before a description's words for a path if the value is none.
var negated = regexp.MustCompile(`(?i)(?:\bnot|\bnever|n't|\bwithout|\bno|\bexcluding)\b[^.;,]{0,30}$`)

// maxRead limits the part of a description that is examined, in bytes.
const maxRead = 4 << 10

// describesPath reports whether name, format or description of a path parameter with the schema s show that its values are paths, and its
// schema permits slashes.
func describesPath(name, description string, s *tree.Node) bool {
	if s.Get("enum") != nil || s.Get("const") != nil || !permitsText(s) {
		return false
	}
	if pattern := s.Get("pattern").Text(); pattern != "" && !schema.PermitsSlash(pattern) {
		return false
	}
	switch format := s.Get("format").Text(); {
	case slices.Contains(pathFormats, format):
		return true
	case format != "" && format != "string":
		return false
	}
	words := text.NameWords(name)
	if slices.Contains(wholeNames, strings.Join(words, " ")) || len(words) > 0 && slices.Contains(pathNames, words[len(words)-1]) {
		return true
	}
	return showsPath(description) || showsPath(s.Get("description").Text())
}

// permitsText reports whether the values of a schema can be texts, as far as its type tells.
func permitsText(s *tree.Node) bool {
	t := s.Get("type")
	if t.Kind() != tree.Array {
		return t == nil || t.Kind() == tree.String && t.Text() == "string"
	}
	for i := range t.Len() {
		if t.At(i).Text() == "string" {
			return true
		}
	}
	return false
}

// showsPath reports whether a description says that a value is a path.
func showsPath(description string) bool {
	description = strings.ToLower(beginning(description))
	if !slices.ContainsFunc(pathWords, func(word string) bool { return strings.Contains(description, word) }) {
		return false // without the expression, which costs more than all else that is read of a parameter
	}
	found := describedPath.FindStringIndex(description)
	return found != nil && !negated.MatchString(description[max(found[0]-60, 0):found[0]])
}

// describedRoot matches descriptions by which an empty or missing path is that of the root.
var describedRoot = regexp.MustCompile(`(?i)\b(?:empty|blank|omit(?:s|ted|ting)?|left out|leave out)\b[^.;]{0,120}\b(?:root|top[- ]level)\b|` +
	`\b(?:root|top[- ]level)\b[^.;]{0,120}\b(?:empty|blank|omitted|left out)\b`)

// showsRoot reports whether a description says that an empty path is the root.
func showsRoot(description string) bool { return describedRoot.MatchString(beginning(description)) }

// beginning returns the part of a description that is examined.
func beginning(description string) string { return description[:min(len(description), maxRead)] }
