package source

import (
	"cmp"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"

	"drawbridge/config"
	"drawbridge/openapi/text"
)

// nameFromLocation names an API until its document is known.
func nameFromLocation(location string) string {
	if u, err := url.Parse(location); err == nil && u.Host != "" {
		return apiName(u.Hostname())
	}
	base := filepath.Base(location)
	return apiName(strings.TrimSuffix(base, filepath.Ext(base)))
}

// maxAPIName is the maximum number of characters of an API's name, which leaves room for the operation in tool names.
const maxAPIName = 24

// apiName derives a name from a title: transliterated lower-case letters and digits, words joined by "-", as many whole
// words as fit. A possessive 's is dropped. Different titles with the same name are distinguished like equal titles.
func apiName(title string) string {
	ascii, _ := text.Latin(title)
	return formerAPIName(ascii)
}

// formerAPIName is apiName of the previous release, which dropped all letters outside ASCII.
func formerAPIName(title string) string {
	title = strings.ReplaceAll(strings.ToLower(title), "’", "'") + " "
	words := strings.FieldsFunc(possessive.ReplaceAllString(title, "$1"), func(r rune) bool {
		return ('a' > r || r > 'z') && ('0' > r || r > '9')
	})
	name := ""
	for _, word := range words {
		switch {
		case name == "":
			name = word[:min(len(word), maxAPIName)]
		case len(name)+1+len(word) <= maxAPIName:
			name += "-" + word
		default:
			return name
		}
	}
	return cmp.Or(name, "api")
}

// possessive matches a possessive 's with the character after it.
var possessive = regexp.MustCompile(`'s([^\pL\pN])`)

// nameFor returns the name of an API for the title of its document. label is its name if there is no title.
func nameFor(api *config.API, label, title string) string {
	if api.Name != "" || title == "" {
		return label
	}
	return apiName(title)
}
