package answer

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"drawbridge/test/race"
)

// TestHostilePages checks that the time for a page that is made to be expensive is proportional to its size, and that
// the result is not much larger than the page (P6). The limit is for a slow machine.
func TestHostilePages(t *testing.T) {
	size := race.Fewer(1<<20, 1<<17)
	for _, piece := range []string{
		"<ul>", "<ol><li>x", "<li>", "<", "<!--", "<a b=", "<svg>", "<script>", "</script>", "<pre>\n x", "<td>x", "&amp", "&", "<br>", "<p>\x00", "<table><tr>", "<![CDATA[", "<textarea>", "<title>", "<h1>", " ", "é ",
	} {
		page := []byte(strings.Repeat(piece, size/len(piece)))
		text := htmlText(page)
		if !utf8.Valid(text) || len(text) > 6*size || len(text) == 0 {
			t.Errorf("%q: %d bytes", piece, len(text))
		}
		if bytes.Contains(text, []byte("\n\n\n")) {
			t.Errorf("%q: several blank lines in a row", piece)
		}
	}
}
