package catalog

import "strings"

// unmarked removes Markdown from a text: links and images are replaced by their text, emphasis and
// code by what is marked. An underscore is more often part of a name than markup, and stays.
func unmarked(text string) string {
	if !strings.ContainsAny(text, "[*`") {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '`', c == '*' && strings.HasPrefix(text[i:], "**"):
			i += len(text[i:]) - len(strings.TrimLeft(text[i:], text[i:i+1]))
			continue
		case c == '!' && strings.HasPrefix(text[i+1:], "["):
			if _, size := link(text[i+1:]); size > 0 {
				i++
				continue
			}
		case c == '[':
			if label, size := link(text[i:]); size > 0 {
				b.WriteString(unquoted(label))
				i += size
				continue
			}
		}
		b.WriteByte(text[i])
		i++
	}
	return b.String()
}

func unquoted(label string) string { return strings.NewReplacer("`", "", "**", "").Replace(label) }

// link parses the inline link that text begins with (CommonMark section 6.3); its size is 0 if
// there is none. Labels with nested brackets are not recognized, which keeps parsing linear.
func link(text string) (label string, size int) {
	const longest = 500
	text = text[:min(len(text), longest)]
	end := strings.IndexAny(text[1:], "[]") + 1
	if end <= 1 || text[end] != ']' || !strings.HasPrefix(text[end+1:], "(") {
		return "", 0
	}
	target := strings.IndexAny(text[end+2:], "()")
	if target < 0 || text[end+2+target] != ')' {
		return "", 0
	}
	return text[1:end], end + 2 + target + 1
}
