package tree

import (
	"slices"
	"strings"

	"drawbridge/openapi/text"
)

// Misspelt media types: "application-json", "application/x-www-form-urlencode". A body would be sent as that, and an
// answer not read.

// topLevels are the types of RFC 6838 section 4.2 that documents use.
var topLevels = []string{"application", "audio", "font", "image", "message", "model", "multipart", "text", "video"}

// usualMedia are the types whose misspellings are read. Those that are one letter from another type that exists are compared in repairMedia.
var usualMedia = []string{
	"application/json", "application/xml", "application/pdf", "application/zip", "application/x-www-form-urlencoded", "application/octet-stream",
	"application/problem+json", "application/merge-patch+json", "application/json-patch+json", "application/x-ndjson", "application/hal+json",
	"application/vnd.api+json", "application/javascript", "application/yaml", "application/graphql", "application/csv", "multipart/form-data", "multipart/mixed",
	"text/plain", "text/html", "text/csv", "text/xml", "text/event-stream", "text/json", "text/css", "text/markdown", "text/calendar", "image/png", "image/jpeg",
}

// mediaMeant returns the media type that another one is a misspelling of, with its parameters, "" if there is none.
func mediaMeant(media string) string {
	essence, parameters, _ := strings.Cut(media, ";")
	name := strings.ToLower(strings.TrimSpace(essence))
	if name == "" || len(name) > 64 || slices.Contains(usualMedia, name) {
		return ""
	}
	meant := ""
	top, sub, found := strings.Cut(name, "/")
	switch {
	case !found:
		for _, usual := range usualMedia { // "application-json", "json"
			if letters(name) == letters(usual) || name == strings.TrimPrefix(usual, "application/") {
				meant = usual
				break
			}
		}
	case !slices.Contains(topLevels, top) && top != "*" && !strings.HasPrefix(top, "x-"):
		if top = text.Typo(top, topLevels); top == "" {
			return ""
		}
		meant = top + "/" + sub
		if !slices.Contains(usualMedia, meant) && top != "application" && top != "multipart" {
			if meant = mediaMeant(meant); meant == "" {
				return "" // "test/x" is no text
			}
		} else if more := mediaMeant(meant); more != "" {
			meant = more
		}
	case top == "application" && len(sub) == len("json") && sub[0] == 'j' && sub != "json":
		meant = text.Typo(sub, []string{"json"})
		if meant != "" {
			meant = "application/json"
		}
	case top == "application" && strings.HasPrefix(sub, "x-www"), top == "application" && strings.HasPrefix(sub, "octet"), top == "multipart" && strings.HasPrefix(sub, "form"):
		meant = text.Typo(name, []string{"application/x-www-form-urlencoded", "application/octet-stream", "multipart/form-data"})
	}
	if meant == "" || meant == name {
		return ""
	}
	if parameters != "" {
		meant += ";" + parameters
	}
	return meant
}

// letters returns a name without what is no letter or digit.
func letters(name string) string {
	return strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || '0' <= r && r <= '9' {
			return r
		}
		return -1
	}, name)
}

// repairMediaNames renames the media types of a "content" that are misspelt.
func (w *walker) repairMediaNames(n *Node) {
	for _, k := range n.body.kids {
		meant := mediaMeant(k.key)
		if meant == "" || n.Get(meant) != nil {
			continue
		}
		w.warn.add(k, CodeMediaName, "%s is not a media type; read as %s", quote(clip(k.key)), quote(meant))
		n.rename(k, meant)
	}
}

// repairMediaTexts does it for the lists "consumes" and "produces".
func (w *walker) repairMediaTexts(n *Node) {
	for _, k := range n.body.kids {
		if meant := mediaMeant(k.text); k.kind == String && meant != "" {
			w.warn.add(k, CodeMediaName, "%s is not a media type; read as %s", quote(clip(k.text)), quote(meant))
			k.text = meant
		}
	}
}
