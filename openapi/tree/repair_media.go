package tree

import (
	"slices"
	"strings"

	"drawbridge/openapi/text"
)

// Misspelt media types: "application-json", "application/x-www-form-urlencode". A body would be sent with that type,
// and a response not be read.

// topLevels are the top-level types (RFC 6838 section 4.2) that documents use.
var topLevels = []string{"application", "audio", "font", "image", "message", "model", "multipart", "text", "video"}

// usualMedia are the types whose misspellings are recognized. Those that differ by one letter from another existing
// type are compared in repairMedia.
var usualMedia = []string{
	"application/json", "application/xml", "application/pdf", "application/zip", "application/x-www-form-urlencoded", "application/octet-stream",
	"application/problem+json", "application/merge-patch+json", "application/json-patch+json", "application/x-ndjson", "application/hal+json",
	"application/vnd.api+json", "application/javascript", "application/yaml", "application/graphql", "application/csv", "multipart/form-data", "multipart/mixed",
	"text/plain", "text/html", "text/csv", "text/xml", "text/event-stream", "text/json", "text/css", "text/markdown", "text/calendar", "image/png", "image/jpeg",
}

// correctMedia returns the media type that another one is a misspelling of, with its parameters; "" if there is none.
func correctMedia(media string) string {
	essence, parameters, _ := strings.Cut(media, ";")
	name := strings.ToLower(strings.TrimSpace(essence))
	if name == "" || len(name) > 64 || slices.Contains(usualMedia, name) {
		return ""
	}
	intended := ""
	top, sub, found := strings.Cut(name, "/")
	switch {
	case !found:
		for _, usual := range usualMedia { // "application-json", "json"
			if letters(name) == letters(usual) || name == strings.TrimPrefix(usual, "application/") {
				intended = usual
				break
			}
		}
	case !slices.Contains(topLevels, top) && top != "*" && !strings.HasPrefix(top, "x-"):
		if top = text.Typo(top, topLevels); top == "" {
			return ""
		}
		intended = top + "/" + sub
		if !slices.Contains(usualMedia, intended) && top != "application" && top != "multipart" {
			if intended = correctMedia(intended); intended == "" {
				return "" // "test/x" is not text
			}
		} else if more := correctMedia(intended); more != "" {
			intended = more
		}
	case top == "application" && len(sub) == len("json") && sub[0] == 'j' && sub != "json":
		intended = text.Typo(sub, []string{"json"})
		if intended != "" {
			intended = "application/json"
		}
	case top == "application" && strings.HasPrefix(sub, "x-www"), top == "application" && strings.HasPrefix(sub, "octet"), top == "multipart" && strings.HasPrefix(sub, "form"):
		intended = text.Typo(name, []string{"application/x-www-form-urlencoded", "application/octet-stream", "multipart/form-data"})
	}
	if intended == "" || intended == name {
		return ""
	}
	if parameters != "" {
		intended += ";" + parameters
	}
	return intended
}

// letters returns the letters and digits of a name.
func letters(name string) string {
	return strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || '0' <= r && r <= '9' {
			return r
		}
		return -1
	}, name)
}

// repairMediaNames renames the misspelt media types of a "content".
func (w *walker) repairMediaNames(n *Node) {
	for _, k := range n.body.kids {
		intended := correctMedia(k.key)
		if intended == "" || n.Get(intended) != nil {
			continue
		}
		w.warn.add(k, CodeMediaName, "%s is not a media type; read as %s", quote(clip(k.key)), quote(intended))
		n.rename(k, intended)
	}
}

// repairMediaTexts does the same for the lists "consumes" and "produces".
func (w *walker) repairMediaTexts(n *Node) {
	for _, k := range n.body.kids {
		if intended := correctMedia(k.text); k.kind == String && intended != "" {
			w.warn.add(k, CodeMediaName, "%s is not a media type; read as %s", quote(clip(k.text)), quote(intended))
			k.text = intended
		}
	}
}
