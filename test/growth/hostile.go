package growth

import (
	"strings"
	"testing"
	"time"
)

// units are what hostile texts repeat: brackets of all kinds, quotes, escapes, beginnings that have no end, and signs that the syntaxes
// of the web use.
var units = []string{
	"(", ")", "[", "]", "{", "}", "<", ">", "\"", "'", "`", "\\", "/", "=", ",", ";", ":", "&", "|", "?", "*", "+", "-", ".", "#", "!", "@", "$", "%", "~", "^", "_",
	" ", "\t", "\n", "\r", "\r\n", "\n\n", "0", "9", "a", "A", "é", "中", "\U0001f600", "\u200d", "\u0301", "\x00", "\x1b[", "\xff",
	"()", "[]", "{}", "[[", "{{", "[{", "[1,", "{\"a\":", "[{\"a\":", "\"a\",", "\"a\":", "'a'", "\\\"", "\\\\", "\\u0061", "\\ud83d\\ude00", "\\n", "&#", "&lt;", "&amp", "&a", "%25", "%",
	"<a ", "<a>", "</a>", "<a b=", "<a b='", "<!--", "-->", "<!", "<?", "<![CDATA[", "<script>", "</script", "<ul>", "<table>", "<pre>", "<b><i>",
	"a=", "a=b;", "a=\"", "a, ", "a;q=", "a/b;", "<a>;rel=", "Bearer ", "a b ", "ab ", "a.", "a/", "{a}", "{$", "{$request.", "${", "#/", "/*", "//", "--", "a-b_", "1.", "1e", "e9",
	"password=", "token: ", "\"password\":\"", "eyJa.", "at a.b(", "http://a@", "C:\\", "/usr/", "-----BEGIN PRIVATE KEY-----", "data: ", "data:a\n", "event: a\n", "id:\n\n", "--b\r\n", "\x1e{", "- ", "- - ", "? ", "a: ", "a: [", "&a ", "*a ", "!!a ", "| ", "|\n ", "---\n", "%a\n",
	"(?:", "(a|", "[a-", "a{9}", "a*", "(a*)*", "\\p{L}", "(?=", ".*", "aA1 ", "don't ", "word ", "wordsWithoutAnyEnd",
}

// Hostile parses texts that repeat each of a hundred and more units up to so many bytes, alone and each followed by as much of another,
// between before and after. It fails the test if the work on any of them grows faster than its length, or takes more than most.
func Hostile(t testing.TB, bytes int, most time.Duration, before, after string, parse func(text string)) {
	t.Helper()
	for i, unit := range units {
		for _, other := range []string{"", units[(i*7+3)%len(units)]} {
			Linear(fault{t, unit + " and " + other}, bytes/10, most, func(n int) string {
				text := strings.Repeat(unit, n/len(unit)+1)
				if other != "" {
					text += strings.Repeat(other, n/len(other)+1)
				}
				return before + text + after
			}, parse)
		}
	}
}

// fault names the unit in what a test says.
type fault struct {
	testing.TB
	unit string
}

// Errorf says which units the text was made of.
func (f fault) Errorf(format string, args ...any) {
	f.Helper()
	f.TB.Errorf("%q: "+format, append([]any{f.unit}, args...)...)
}
