package redact

import (
	"encoding/json"
	"slices"
	"strings"
)

// A pair is the name of a secret and its value: in quotes, which may be escaped since an error may hold another in a
// string, or up to white space or punctuation.

// secretNames are suffixes of the names of secrets, without separators between their words.
var secretNames = []string{
	"password", "passwd", "passphrase", "passcode", "pwd", "secret", "apikey", "accesskey", "accesskeyid", "secretkey", "accountkey", "sharedaccesskey",
	"privatekey", "authorization", "credential", "credentials", "token", "signature", "sig", "sessionid", "jsessionid", "phpsessid", "connect.sid",
	"otp", "pin", "cvv", "cvc",
}

// ambiguousNames are the members of secretNames that, without a prefix, have other common meanings: the token at which a
// parser stopped, the signature of a function.
var ambiguousNames = []string{"token", "signature", "sig", "pin", "otp", "cvv", "cvc", "credential", "credentials"}

const (
	longestName = 80 // including all prefixes
	digits      = "0123456789"
	letters     = "abcdefghijklmnopqrstuvwxyz"
)

// withoutPairs removes the values of pairs. A text that begins like JSON may not be JSON; if it is, a quote after a
// separator within a string ends that string.
func withoutPairs(text string) string {
	cleaned := withoutPairsOf(text, false)
	if cleaned != text && isValid(text) && !isValid(cleaned) {
		return withoutPairsOf(text, true)
	}
	return cleaned
}

// isValid reports whether a text that the patterns search is JSON.
func isValid(text string) bool { return json.Valid([]byte(escape.Replace(text))) }

func withoutPairsOf(text string, strict bool) string {
	var b strings.Builder
	copied := 0
	for i := 0; i < len(text); i++ {
		if text[i] != ':' && text[i] != '=' {
			continue
		}
		name := nameBefore(text[copied:i])
		if name == "" {
			continue
		}
		start, end, quoted := valueAfter(text, i)
		if strict && start > i+1 && text[start-1] == '"' && text[start-2] != '\\' && quotesBefore(text[:i]) != `"` {
			continue
		}
		if quoted == inList {
			for ; end > start; start, end = nextOf(text, end) {
				if value := text[start:end]; strings.ContainsAny(value, digits) && isSecret(name, value, false) {
					b.WriteString(text[copied:start])
					b.WriteString(Placeholder)
					copied, i = end, max(i, end-1)
				}
			}
			continue
		}
		if isSecret(name, text[start:end], quoted == bare && text[i] == ':') && (quoted == inQuotes || name != ambiguousPassword || !allDigits(text[start:end])) {
			b.WriteString(text[copied:start])
			quotes := ""
			if quoted == bare {
				quotes = quotesBefore(text[:i])
				end += bareEnd(text[end:])
			}
			b.WriteString(quotes + Placeholder + quotes)
			copied, i = end, max(i, end-1)
		}
	}
	if copied == 0 {
		return text
	}
	b.WriteString(text[copied:])
	return b.String()
}

// nameBefore returns the name before a separator, in lower case and without the separators between its words; "" if it
// is not the name of a secret.
func nameBefore(text string) string {
	text = strings.TrimRight(text, " \t")
	text = strings.TrimRight(text, `"'\`)
	from := len(text)
	for from > 0 && len(text)-from <= longestName && isNameByte(text[from-1]) {
		from--
	}
	if from == len(text) {
		return ""
	}
	return secretName(text[from:])
}

// ambiguousPassword is a name of passwords that has many other meanings, so its value must look like a password.
const ambiguousPassword = "pass"

// secretName normalizes a name as nameBefore does.
func secretName(name string) string {
	name = strings.ToLower(name)
	if at := len(name) - len(ambiguousPassword); strings.HasSuffix(name, ambiguousPassword) && (at == 0 || strings.IndexByte("_-.", name[at-1]) >= 0) {
		return ambiguousPassword
	}
	name = strings.ReplaceAll(strings.ReplaceAll(name, "_", ""), "-", "")
	for _, more := range []string{"confirmation", "hash", "value"} {
		name = strings.TrimSuffix(name, more)
	}
	if slices.ContainsFunc(secretNames, func(s string) bool { return strings.HasSuffix(name, s) }) && !isPageToken(name) {
		return name
	}
	return ""
}

// isPageToken reports whether a name, in lower case and without separators, is that of a token that grants no access
// because it marks a position in a list or identifies one request: pageToken, nextSyncToken, clientRequestToken.
func isPageToken(name string) bool {
	name, ok := strings.CutSuffix(name, "token")
	if !ok || containsAny(name, "access", "refresh", "async", "auth", "session", "secret", "security", "bearer", "login", "api") {
		return false
	}
	return slices.ContainsFunc([]string{"page", "next", "previous", "prev", "continuation", "continue", "cursor", "sync", "delta", "resume", "skip", "pagination", "start", "starting", "clientrequest",
		"idempotency", "change", "cancellation", "consistency"}, func(word string) bool { return strings.HasSuffix(name, word) })
}

func isNameByte(c byte) bool {
	return c == '_' || c == '-' || c == '.' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

// quotesBefore returns the quote that ends a name before its separator, with the backslashes before it. In JSON, the
// placeholder of a number needs the same quotes as a string.
func quotesBefore(text string) string {
	text = strings.TrimRight(text, " \t")
	if !strings.HasSuffix(text, `"`) {
		return ""
	}
	quotes := text[len(strings.TrimRight(text[:len(text)-1], `\`)):]
	if len(quotes)%2 == 1 {
		return `"` // the backslashes belong to the name
	}
	return quotes
}

// quoting is the notation of a value.
type quoting uint8

const (
	bare quoting = iota
	inQuotes
	inList // in quotes, and the first of several
)

// nextOf returns the offsets of the next value in a list, after one that ends in quotes; 0, 0 if that was the last.
func nextOf(text string, end int) (start, next int) {
	rest := strings.TrimLeft(text[end:], "\\")
	if rest = strings.TrimLeft(rest, `"'`); !strings.HasPrefix(rest, ",") {
		return 0, 0
	}
	start, next, quoted := valueAfter(text, len(text)-len(rest))
	if quoted != inQuotes {
		return 0, 0
	}
	return start, next
}

// valueAfter returns the offsets of the value after the separator at i, without quotes. Of a long value without quotes
// it returns only the beginning: the rest may hold further names, and scanning all of it for each would take quadratic
// time.
func valueAfter(text string, i int) (start, end int, quoted quoting) {
	if i++; i < len(text) && text[i] == '>' { // the notation of Ruby and PHP
		i++
	}
	for most := i + 4; i < len(text) && i < most && (text[i] == ' ' || text[i] == '\t'); {
		i++
	}
	kind := inQuotes
	if i+1 < len(text) && text[i] == '[' && strings.IndexByte(`"'\`, text[i+1]) >= 0 {
		kind, i = inList, i+1
	}
	slashes := 0
	for i+slashes < len(text) && text[i+slashes] == '\\' {
		slashes++
	}
	at := i + slashes
	switch {
	case at < len(text) && text[at] == '"':
		end := closingQuote(text, at+1, slashes)
		return at + 1, at + 1 + len(strings.TrimRight(text[at+1:end], `\`)), kind
	case slashes == 0 && at < len(text) && text[at] == '\'':
		n := strings.IndexAny(text[at+1:], "'\r\n\"\\"+lineFeed+carriage)
		if n < 0 {
			n = len(text) - at - 1
		}
		return at + 1, at + 1 + n, kind
	}
	return i, i + bareEnd(text[i:min(len(text), i+Margin)]), bare
}

// bareEnd returns the end of an unquoted value at the beginning of a text.
func bareEnd(text string) int {
	if n := strings.IndexAny(text, " \t\r\n\"'\\,;&<>(){}[]"+lineFeed+carriage+tab); n >= 0 {
		return n
	}
	return len(text)
}

// closingQuote returns the offset of the quote that ends a string, whose opening quote follows the given number of
// backslashes: 1 for a string of JSON within a JSON string, 3 for one more level. A quote with more backslashes belongs
// to the string. The end of the outer string always ends it.
func closingQuote(text string, from, slashes int) int {
	for at := from; ; at++ {
		n := strings.IndexByte(text[at:], '"')
		if n < 0 {
			return len(text)
		}
		at += n
		before := 0
		for at-before > from && text[at-before-1] == '\\' {
			before++
		}
		if before%2 == 0 || before < slashes || before%(2*(slashes+1)) == slashes {
			return at
		}
	}
}

// isSecret reports whether the text after a name is a secret, and not prose about one. loose means that the value is
// unquoted and follows a colon, as prose does.
func isSecret(name, value string, loose bool) bool {
	value = strings.TrimSuffix(value, ".")
	switch {
	case len(value) < 3, strings.ContainsAny(value, " \t\n["+lineFeed), strings.Trim(value, "*xX.•-") == "", isWord(value):
		return false // prose, or a placeholder
	case slices.Contains(ambiguousNames, name) && !allDigits(value):
		if loose || !strings.ContainsAny(value, digits) || len(value) < 16 {
			return false
		}
	}
	switch {
	case name == ambiguousPassword && !strings.ContainsAny(value, digits):
		return false
	case isOneWord(value) && !isPassword(name): // "secret": "rotate" is about a secret
		return false
	case loose:
		return len(value) >= 6 && strings.ContainsAny(value, digits) || isLong(value)
	}
	return true
}

// isPassword reports whether a name is that of a secret that people choose, which may be a word.
func isPassword(name string) bool {
	return slices.ContainsFunc([]string{"password", "passwd", "passphrase", "passcode", "pwd"}, func(s string) bool { return strings.HasSuffix(name, s) })
}

// isOneWord reports whether a value is a single word as people write it. A generated secret has digits or mixed case,
// or is longer.
func isOneWord(s string) bool {
	return len(s) < 12 && (strings.Trim(s, letters) == "" || strings.Trim(s[1:], letters) == "" || strings.Trim(s, strings.ToUpper(letters)) == "")
}

// isLong reports whether a text without digits and punctuation is longer than a word.
func isLong(s string) bool {
	return len(s) >= 24 && strings.Trim(strings.ToLower(s), letters) == ""
}

func allDigits(s string) bool { return strings.Trim(s, digits) == "" }

// isWord reports whether a value describes a secret: it is a word for that, or a code of several words, such as
// too_short.
func isWord(value string) bool {
	switch strings.ToLower(value) {
	case "required", "missing", "invalid", "null", "nil", "none", "true", "false", "undefined", "empty", "blank", "string", "number", "object",
		"expired", "revoked", "unknown", "incorrect", "wrong", "denied", "mismatch", "forbidden", "unauthorized", "basic", "bearer", "password", "secret",
		"token", "optional", "text", "integer", "boolean", "array", "short", "weak", "yes", "not", "must", "should", "is", "cannot", "may":
		return true
	}
	return strings.ContainsAny(value, "_-") && (strings.Trim(value, letters+"_-") == "" || strings.Trim(value, strings.ToUpper(letters)+"_-") == "")
}
