package redact

import "strings"

// Placeholder replaces a secret. It needs no escapes within a JSON string.
const Placeholder = "[redacted]"

// Margin is the number of bytes after a cut that the patterns need to recognize a match that begins before it: a caller
// that cuts a text passes Margin bytes more, and removes as many from the end of the result.
const Margin = 1 << 10

// Error returns the error text of a service without secrets, addresses and stack traces. If the text is JSON, or the
// beginning of it, so is the result: every match lies within one string.
func Error(text string) string { return errorKeeping(text, nil) }

// errorKeeping is Error, except for the URLs and addresses that kept lists.
func errorKeeping(text string, kept *Kept) string {
	if isJSON(text) {
		text, _ = inJSON(text, maxNested, kept)
		return text
	}
	return clean(text, kept, false)
}

// clean removes all matches that are not hidden by escapes.
func clean(text string, kept *Kept, isJSON bool) string {
	text = unescape.Replace(text)
	text = withoutSecrets(text)
	text = withoutStacks(text)
	return escape.Replace(withoutAddresses(text, kept, isJSON))
}

// While the patterns search a text, control characters replace the escapes of JSON, so that a line within a string
// begins as a line of text does.
const (
	lineFeed = "\x01"
	carriage = "\x02"
	tab      = "\x03"
	quote    = "\x04" // while stack traces are matched: a quote that does not end a string
)

var (
	unescape = strings.NewReplacer(`\\`, `\\`, `\n`, lineFeed, `\r`, carriage, `\t`, tab, lineFeed, "", carriage, "", tab, "", quote, "")
	escape   = strings.NewReplacer(lineFeed, `\n`, carriage, `\r`, tab, `\t`)
)

// isJSON reports whether the quotes in a text delimit JSON strings.
func isJSON(text string) bool {
	text = strings.TrimLeft(text, " \t\r\n")
	return text != "" && strings.IndexByte(`{["`, text[0]) >= 0
}
