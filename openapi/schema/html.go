package schema

import (
	"bytes"
	"html"
	"strings"
)

// Prose makes a description fit for a model: it does the same as Clean, turns HTML into plain text, since markup costs tokens, and
// removes notes and tags of source code. Some documents have all their descriptions in HTML.
func Prose(text string, max int) string {
	return Clean(withoutHTML(withoutSourceComments(text)), max)
}

// withoutHTML removes HTML tags and decodes entities. Blocks begin on a line of their own, items of lists with "- ", and code is put in
// backticks; of a link its text is kept. Text that only looks like a tag, such as "<id>", is kept, and so is code in backticks.
func withoutHTML(s string) string {
	if !strings.ContainsAny(s, "<&") {
		return s
	}
	b := page{out: make([]byte, 0, len(s)), marked: -1}
	changed := false
	for i := 0; i < len(s); {
		switch s[i] {
		case '`':
			n := codeSpan(s[i:])
			b.write(s[i : i+n])
			i += n
		case '&':
			text, n := entity(s[i:])
			b.write(text)
			changed = changed || n > 1
			i += n
		case '<':
			t, ok := parseTag(s[i:])
			if !ok {
				b.write("<")
				i++
				continue
			}
			changed = true
			if i += t.size; t.name == "script" || t.name == "style" {
				i += skipPast(s[i:], "</"+t.name)
			}
			b.tag(t)
		default:
			b.write(s[i : i+1])
			i++
		}
	}
	if !changed {
		return s
	}
	return squeeze(string(b.out))
}

// squeeze removes spaces at the ends of lines, and blank lines after blank lines.
func squeeze(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	blank := 0
	for line := range strings.Lines(s) {
		if line = strings.TrimRight(line, " \t\r\n"); line == "" {
			blank++
			continue
		}
		if b.Len() > 0 {
			b.WriteString("\n\n"[:min(blank+1, 2)])
		}
		blank = 0
		b.WriteString(line)
	}
	return b.String()
}

// codeSpan returns the length of the code span that s begins with (CommonMark section 6.1), or of its backticks if it
// has no end.
func codeSpan(s string) int {
	const longest = 2000
	s = s[:min(len(s), longest)]
	ticks := len(s) - len(strings.TrimLeft(s, "`"))
	for i := ticks; i < len(s); {
		next := strings.IndexByte(s[i:], '`')
		if next < 0 {
			break
		}
		i += next
		run := len(s[i:]) - len(strings.TrimLeft(s[i:], "`"))
		if i += run; run == ticks {
			return i
		}
	}
	return ticks
}

// entity decodes the character reference that s begins with. Without a semicolon it is not decoded, since it may be part of a URL.
func entity(s string) (text string, size int) {
	const longest = 12
	end := strings.IndexByte(s[:min(len(s), longest)], ';')
	if end < 2 {
		return s[:1], 1
	}
	if text = html.UnescapeString(s[:end+1]); text == s[:end+1] {
		return s[:1], 1
	}
	if text == "\u00a0" {
		text = " "
	}
	return text, end + 1
}

// skipPast returns the length of s up to the end of the closing tag that begins with end, in upper or lower case.
func skipPast(s, end string) int {
	for i := 0; i < len(s); i++ {
		next := strings.IndexByte(s[i:], '<')
		if next < 0 {
			break
		}
		if i += next; len(s)-i >= len(end) && strings.EqualFold(s[i:i+len(end)], end) {
			if n := strings.IndexByte(s[i:], '>'); n >= 0 {
				return i + n + 1
			}
			break
		}
	}
	return len(s)
}

// A tag is an HTML tag in a text.
type tag struct {
	name  string // lower case
	close bool
	size  int
}

// parseTag reads the tag that s begins with. Only names of HTML count, with attributes that have values, so that
// "List<a>" is the only kind of text that is mistaken.
func parseTag(s string) (tag, bool) {
	const longest = 2000
	s = s[:min(len(s), longest)]
	t := tag{}
	rest := s[1:]
	rest, t.close = strings.CutPrefix(rest, "/")
	n := 0
	for n < len(rest) && (rest[n]|0x20 >= 'a' && rest[n]|0x20 <= 'z' || n > 0 && rest[n] >= '0' && rest[n] <= '9') {
		n++
	}
	t.name = strings.ToLower(rest[:n])
	if effectOf(t.name) == noTag {
		return t, false
	}
	rest = rest[n:]
	end, quote := -1, byte(0)
	for i := range len(rest) {
		c := rest[i]
		switch {
		case c == '<': // also in quotes, so that no text is read many times
			return t, false
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '>':
			end = i
		}
		if end >= 0 {
			break
		}
	}
	if end < 0 {
		return t, false
	}
	attributes := strings.TrimSpace(strings.TrimSuffix(rest[:end], "/"))
	if attributes != "" && (t.close || rest[0] > ' ' || !strings.Contains(attributes, "=")) {
		return t, false
	}
	t.size = len(s) - len(rest) + end + 1
	return t, true
}

// effect is the replacement of a tag.
type effect uint8

const (
	noTag     effect = iota // no name of HTML
	nothing                 // inline, or not shown
	newLine                 // begins and ends a line
	paragraph               // has a blank line before it
	item                    // of a list
	cell                    // of a table
	code
)

func effectOf(name string) effect {
	switch name {
	case "a", "abbr", "b", "big", "cite", "del", "em", "font", "i", "img", "ins", "label", "mark", "nobr", "q", "s", "script", "small", "span",
		"strike", "strong", "style", "sub", "sup", "u", "wbr", "tbody", "thead", "tfoot", "colgroup", "col", "html", "body":
		return nothing
	case "br", "div", "ul", "ol", "dl", "dt", "dd", "tr", "hr", "section", "article", "header", "footer", "aside", "details", "summary",
		"blockquote", "pre", "center", "figure", "figcaption", "caption", "nav", "main":
		return newLine
	case "p", "h1", "h2", "h3", "h4", "h5", "h6", "table":
		return paragraph
	case "li":
		return item
	case "td", "th":
		return cell
	case "code", "kbd", "samp", "tt", "var":
		return code
	}
	return noTag
}

// page is a text without its tags.
type page struct {
	out    []byte
	marked int  // offset of the text of a list item that is still empty; -1: none
	lists  int  // that are open
	item   bool // in one, after its first item began
	cell   bool // in a cell of a table, whose row is one line
}

// write appends text. Spaces before the text of an item are left out.
func (b *page) write(text string) {
	if b.marked == len(b.out) {
		text = strings.TrimLeft(text, " \t\r\n")
	}
	b.out = append(b.out, text...)
}

// line begins a new line, if there is something on this one but the mark of an item.
func (b *page) line() {
	switch {
	case b.marked == len(b.out):
	case b.cell:
		b.space()
	case len(b.out) > 0 && !bytes.HasSuffix(b.out, []byte("\n")):
		b.out = append(b.out, '\n')
	}
}

func (b *page) space() {
	if last := len(b.out) - 1; last >= 0 && b.out[last] != ' ' && b.out[last] != '\n' {
		b.out = append(b.out, ' ')
	}
}

// closeUp removes blank lines at the end, since list items follow each other without one.
func (b *page) closeUp() {
	if b.marked != len(b.out) {
		b.out = append(bytes.TrimRight(b.out, " \t\r\n"), '\n')
	}
}

func (b *page) tag(t tag) {
	switch effectOf(t.name) {
	case newLine:
		switch t.name {
		case "ul", "ol":
			if b.lists++; t.close {
				b.lists = max(b.lists-2, 0)
			}
			b.item = b.item && b.lists > 0
		case "tr":
			b.cell = false
		}
		if t.name == "br" && !b.cell {
			b.write("\n")
		} else {
			b.line()
		}
	case paragraph:
		b.cell = b.cell && t.name != "table"
		if b.line(); b.marked != len(b.out) && !b.cell && len(b.out) > 0 && !bytes.HasSuffix(b.out, []byte("\n\n")) {
			b.out = append(b.out, '\n')
		}
	case item:
		b.cell = false
		b.line()
		if b.item || t.close {
			b.closeUp()
		}
		if b.item = true; !t.close && b.marked != len(b.out) {
			b.out = append(b.out, "- "...)
			b.marked = len(b.out)
		}
	case cell:
		if b.cell || t.close {
			b.space()
		}
		b.cell = !t.close
	case code:
		b.write("`")
	case noTag, nothing:
	}
}
