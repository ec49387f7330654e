package schema

import "strings"

// withoutSourceComments removes what generators copy from the comments of source code into descriptions: internal notes between "(--" and
// "--)", such as those to Google's API linter (AIP-192), and the inline tags of Javadoc and JSDoc, of which the text stays:
// "{@link Order#total() the total}" is "the total". Text in code spans stays as it is.
func withoutSourceComments(s string) string {
	if !strings.Contains(s, "(--") && !strings.Contains(s, "{@") {
		return s
	}
	out := make([]byte, 0, len(s))
	removed, closed := false, true
	for i := 0; i < len(s); {
		switch s[i] {
		case '`':
			n := codeSpan(s[i:])
			out = append(out, s[i:i+n]...)
			i += n
			continue
		case '(':
			if n := noteLength(s[i:], &closed); n > 0 {
				removed = true
				i += n
				continue
			}
		case '{':
			if text, n := inlineTag(s[i:]); n > 0 {
				if label := labelBefore(out); label >= 0 && text != "" { // "[the total]{@link Order}" of JSDoc
					out, text = append(out[:label], out[label+1:len(out)-1]...), ""
				}
				out = append(out, text...)
				i += n
				continue
			}
		}
		out = append(out, s[i])
		i++
	}
	if removed {
		return squeeze(string(out))
	}
	return string(out)
}

// noteLength returns the length of the internal note that s begins with, 0 if it begins with none. One for the API linter may have lost its
// end, since generators make a summary of the first paragraph. closed is set to false once no end follows any more.
func noteLength(s string, closed *bool) int {
	const begin, end = "(--", "--)"
	if !strings.HasPrefix(s, begin) || len(s) == len(begin) || s[len(begin)] > ' ' { // "(--verbose)" is an option
		return 0
	}
	if *closed {
		if n := strings.Index(s, end); n >= 0 {
			return n + len(end)
		}
		*closed = false
	}
	if note := strings.TrimSpace(s[len(begin):min(len(s), 100)]); strings.HasPrefix(note, "api-linter:") || strings.HasPrefix(note, "aip.dev/") {
		if n := strings.Index(s, "\n\n"); n >= 0 {
			return n
		}
		return len(s)
	}
	return 0
}

// inlineTag returns the text of the inline tag that s begins with, and its length; 0 if it begins with none that is known.
func inlineTag(s string) (text string, size int) {
	const longest = 500
	s = s[:min(len(s), longest)]
	if !strings.HasPrefix(s, "{@") {
		return "", 0
	}
	depth, end := 0, -1
	for i := 0; i < len(s) && end < 0; i++ {
		switch s[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				end = i
			}
		}
	}
	if end < 0 {
		return "", 0
	}
	name, content, _ := strings.Cut(strings.Join(strings.Fields(s[2:end]), " "), " ")
	switch name {
	case "link", "linkplain", "linkcode", "see", "tutorial", "value":
		return linkText(content), end + 1
	case "code":
		return "`" + strings.ReplaceAll(content, "`", "'") + "`", end + 1
	case "literal", "summary", "index", "systemProperty":
		return content, end + 1
	case "inheritDoc", "inheritdoc", "docRoot":
		return "", end + 1
	}
	return "", 0
}

// linkText returns the label of a link, or the name that it leads to: "Order.total()" of "com.shop.Order#total()".
func linkText(content string) string {
	target, label, labeled := strings.Cut(content, "|")
	if !labeled {
		at, depth := len(content), 0
		for i := range len(content) { // the first space outside of the list of parameters
			switch content[i] {
			case '(':
				depth++
			case ')':
				depth--
			}
			if content[i] == ' ' && depth <= 0 {
				at = i
				break
			}
		}
		target, label = content[:at], content[at:]
	}
	if label = strings.TrimSpace(label); label != "" {
		return label
	}
	target = strings.TrimSpace(target)
	if strings.Contains(target, "://") {
		return target
	}
	kind, member, hasMember := strings.Cut(target, "#")
	for before, after, found := strings.Cut(kind, "."); found && strings.ToLower(before) == before; before, after, found = strings.Cut(kind, ".") {
		kind = after // of the package
	}
	switch {
	case !hasMember:
		return kind
	case kind == "":
		return member
	default:
		return kind + "." + member
	}
}

// labelBefore returns where the label in brackets begins that a text ends with, -1 if it ends with none.
func labelBefore(text []byte) int {
	const longest = 100
	if len(text) == 0 || text[len(text)-1] != ']' {
		return -1
	}
	for i := len(text) - 2; i >= max(0, len(text)-longest) && text[i] != ']' && text[i] != '\n'; i-- {
		if text[i] == '[' {
			return i
		}
	}
	return -1
}
