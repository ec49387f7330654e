package redact

import "strings"

// Placeholder replaces a secret. In JSON it can stand within a string.
const Placeholder = "[redacted]"

// Margin is how much of a text that goes on the patterns must see to know, in bytes, what begins before that: who cuts a text
// gives as much more of it, and takes as much off its end afterwards.
const Margin = 1 << 10

// Error returns what a service said, without secrets, addresses and stacks. The text may be JSON, or the beginning of it, and is
// that afterwards: what goes stood within one string.
func Error(text string) string { return errorKeeping(text, nil) }

// errorKeeping is Error with URLs and addresses that stay.
func errorKeeping(text string, kept *Kept) string {
	if isJSON(text) {
		text, _ = inJSON(text, maxNested, kept)
		return text
	}
	return clean(text, kept, false)
}

// clean takes out what is not hidden by escapes.
func clean(text string, kept *Kept, isJSON bool) string {
	text = unescape.Replace(text)
	text = withoutSecrets(text)
	text = withoutStacks(text)
	return escape.Replace(withoutAddresses(text, kept, isJSON))
}

// While the patterns look at a text, control characters stand in it for the escapes of JSON, so that a line in a string begins
// as one of the text does.
const (
	lineFeed = "\x01"
	carriage = "\x02"
	tab      = "\x03"
	quote    = "\x04" // while stacks are looked for: one that does not end a string
)

var (
	unescape = strings.NewReplacer(`\\`, `\\`, `\n`, lineFeed, `\r`, carriage, `\t`, tab, lineFeed, "", carriage, "", tab, "", quote, "")
	escape   = strings.NewReplacer(lineFeed, `\n`, carriage, `\r`, tab, `\t`)
)

// isJSON tells whether quotes are those of strings.
func isJSON(text string) bool {
	text = strings.TrimLeft(text, " \t\r\n")
	return text != "" && strings.IndexByte(`{["`, text[0]) >= 0
}
