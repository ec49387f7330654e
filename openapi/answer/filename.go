package answer

import (
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"

	"drawbridge/openapi/schema"
)

// maxFileName is the maximum length of a file name in bytes, which is that of most file systems.
const maxFileName = 255

// FileName returns the file name that the headers of a response give it, which is one segment of a path without invisible characters; "" if there is none.
func FileName(h http.Header) string { return fileName(h.Get("Content-Disposition")) }

// fileName returns the cleaned file name of a Content-Disposition; "" if there is none.
func fileName(disposition string) string {
	if disposition == "" {
		return ""
	}
	_, parameters, err := mime.ParseMediaType(disposition) // also reads filename* (RFC 8187)
	if err != nil {
		return ""
	}
	return cleanName(parameters["filename"])
}

// cleanName makes a name of the service safe for display and for one segment of a URI: the last segment of a path (RFC
// 6266 section 4.3), without invisible characters and without leading and trailing dots and spaces.
func cleanName(name string) string {
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	name = schema.Clean(strings.ToValidUTF8(name, ""), 0)
	name = strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, name)
	for len(name) > maxFileName {
		_, size := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-size]
	}
	return strings.Trim(name, ". ")
}
