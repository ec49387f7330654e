package overlay

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/tree"
)

// Change is an action of an overlay that is written. It updates the values that Target selects with Value, or removes
// them if Value is nil.
type Change struct {
	Target string          // JSONPath query, see [PathTo] and [Quoted]
	Reason string          // why, in one line; the description of the action
	Value  json.RawMessage // merged into what Target selects; nil to remove that
	Draft  bool            // a model wrote the value, and a person has to read it
	// Optional reports that Target need not select anything in later versions of the document.
	Optional bool
}

// ExtensionDraft is the extension of an Action Object whose value a model wrote.
const ExtensionDraft = "x-mcp-draft"

// Written is an overlay in the form of a file.
type Written struct {
	Data []byte
	// Lines are the numbers of the lines on which the actions begin, in the order of the changes.
	Lines []int
}

// Write writes an overlay of version 1.1 (Overlay Specification 1.1.0) in YAML with one action for each change. notes
// are lines of text that it begins with, as comments. The file holds nothing but what it is given: every text is
// quoted, so that none can end its place.
func Write(title string, notes []string, changes []Change) Written {
	var b bytes.Buffer
	for _, note := range notes {
		b.WriteString(strings.TrimRight("# "+flat(note), " ") + "\n")
	}
	b.WriteString("overlay: 1.1.0\ninfo:\n  title: " + quote(title) + "\n  version: 1.0.0\nactions:\n")
	w := Written{}
	line := 1 + bytes.Count(b.Bytes(), []byte("\n"))
	for _, c := range changes {
		w.Lines = append(w.Lines, line)
		start := b.Len()
		b.WriteString("  - target: " + quote(c.Target) + "\n    description: " + quote(c.Reason) + "\n")
		if c.Draft {
			b.WriteString("    " + ExtensionDraft + ": true\n")
		}
		if c.Optional {
			b.WriteString("    " + extensionOptional + ": true\n")
		}
		if c.Value == nil {
			b.WriteString("    remove: true\n")
		} else {
			b.WriteString("    update: ")
			b.Write(flow(c.Value))
			b.WriteByte('\n')
		}
		line += bytes.Count(b.Bytes()[start:], []byte("\n"))
	}
	w.Data = b.Bytes()
	return w
}

// flat returns a text in one line, without characters that would end a comment.
func flat(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == 0x85 || r == 0x2028 || r == 0x2029 || r == 0xfeff {
			return ' '
		}
		return r
	}, text)
}

// quote returns a text as a JSON string, which is a double-quoted scalar of YAML.
func quote(text string) string { return string(escapeBreaks(jsonscan.AppendString(nil, text))) }

// flow returns a JSON value in one line. JSON is a flow style of YAML, except for the line breaks of YAML that JSON
// strings may hold.
func flow(value json.RawMessage) []byte {
	var b bytes.Buffer
	if err := json.Compact(&b, value); err != nil {
		return []byte("null") // callers give valid JSON
	}
	return escapeBreaks(b.Bytes())
}

// escapeBreaks escapes the characters of JSON strings that YAML takes for line breaks or refuses.
func escapeBreaks(value []byte) []byte {
	for _, r := range []rune{0x7f, 0x85, 0x2028, 0x2029, 0xfeff} {
		value = bytes.ReplaceAll(value, []byte(string(r)), []byte(`\u`+strconv.FormatInt(0x10000+int64(r), 16)[1:]))
	}
	return value
}

// PathTo returns the normalized path (RFC 9535 section 2.7) of a value of the root file of a document; false for a value
// that is in no tree with this root, such as one of another file.
func PathTo(root, n *tree.Node) (string, bool) {
	var segments []string
	for at := n; at != root; {
		parent := at.Parent()
		switch parent.Kind() {
		case tree.Object:
			if parent.Get(at.Key()) == nil {
				return "", false
			}
			segments = append(segments, "["+Quoted(at.Key())+"]")
		case tree.Array:
			i := 0
			for i < parent.Len() && parent.At(i) != at {
				i++
			}
			if i == parent.Len() {
				return "", false
			}
			segments = append(segments, "["+strconv.Itoa(i)+"]")
		default:
			return "", false
		}
		at = parent
	}
	var b strings.Builder
	b.WriteByte('$')
	for i := len(segments) - 1; i >= 0; i-- {
		b.WriteString(segments[i])
	}
	return b.String(), true
}

// Quoted returns a text as a string literal of JSONPath (RFC 9535 section 2.3.1.1).
func Quoted(text string) string {
	var b strings.Builder
	b.WriteByte('\'')
	for _, r := range text {
		switch {
		case r == '\'' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ':
			b.WriteString(`\u` + strconv.FormatInt(0x10000+int64(r), 16)[1:])
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('\'')
	return b.String()
}
