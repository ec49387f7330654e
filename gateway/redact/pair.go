package redact

import (
	"encoding/json"
	"slices"
	"strings"
)

// A pair is a name that says that a secret follows, and what follows: in quotes, which may be escaped since an error may hold another
// in a string, or up to white space or a sign.

// secretNames end the names behind which a secret stands, without signs between their words.
var secretNames = []string{
	"password", "passwd", "passphrase", "passcode", "pwd", "secret", "apikey", "accesskey", "accesskeyid", "secretkey", "accountkey", "sharedaccesskey",
	"privatekey", "authorization", "credential", "credentials", "token", "signature", "sig", "sessionid", "jsessionid", "phpsessid", "connect.sid",
	"otp", "pin", "cvv", "cvc",
}

// looseNames are those of secretNames that stand for much else, too, as long as nothing stands before them: the token at which a parser
// stopped, the signature of a function.
var looseNames = []string{"token", "signature", "sig", "pin", "otp", "cvv", "cvc", "credential", "credentials"}

const (
	longestName = 80 // with all that stands before it
	digits      = "0123456789"
	letters     = "abcdefghijklmnopqrstuvwxyz"
)

// withoutPairs takes out the values of pairs. What begins as JSON does may be none; where it is, a quote behind a sign in a string is the end of that string.
func withoutPairs(text string) string {
	less := withoutPairsOf(text, false)
	if less != text && isValid(text) && !isValid(less) {
		return withoutPairsOf(text, true)
	}
	return less
}

// isValid tells whether a text that the patterns look at is JSON.
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
		if isSecret(name, text[start:end], quoted == bare && text[i] == ':') && (quoted == inQuotes || name != shortPassword || !allDigits(text[start:end])) {
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

// nameBefore returns the name that stands before a sign, in lower case and without the signs between its words; "" if it is not one
// behind which a secret stands.
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

// shortPassword is the name of a password that also is that of much else: what stands behind it has to look like one.
const shortPassword = "pass"

// secretName returns a name as nameBefore does.
func secretName(name string) string {
	name = strings.ToLower(name)
	if at := len(name) - len(shortPassword); strings.HasSuffix(name, shortPassword) && (at == 0 || strings.IndexByte("_-.", name[at-1]) >= 0) {
		return shortPassword
	}
	name = strings.ReplaceAll(strings.ReplaceAll(name, "_", ""), "-", "")
	for _, more := range []string{"confirmation", "hash", "value"} {
		name = strings.TrimSuffix(name, more)
	}
	if slices.ContainsFunc(secretNames, func(s string) bool { return strings.HasSuffix(name, s) }) && !isPlaceToken(name) {
		return name
	}
	return ""
}

// isPlaceToken reports whether a name, in lower case and without signs, is that of a token that stands for a place in a list or
// for one request, and lets nobody in: pageToken, nextSyncToken, clientRequestToken.
func isPlaceToken(name string) bool {
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

// quotesBefore returns the quote with which a name ends before its sign, and the backslashes before it: in JSON a number goes as a string does.
func quotesBefore(text string) string {
	text = strings.TrimRight(text, " \t")
	if !strings.HasSuffix(text, `"`) {
		return ""
	}
	quotes := text[len(strings.TrimRight(text[:len(text)-1], `\`)):]
	if len(quotes)%2 == 1 {
		return `"` // the backslashes are of the name
	}
	return quotes
}

// How a value stands.
type quoting uint8

const (
	bare quoting = iota
	inQuotes
	inList // in quotes, and the first of several
)

// nextOf returns where the next value in a list stands, behind one that ends in quotes; 0, 0: it was the last.
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

// valueAfter returns where the value behind the sign at i stands, or, if it is long and not in quotes, its beginning: names may stand in it, and
// behind each there would be the rest of it. Quotes are no part of it.
func valueAfter(text string, i int) (start, end int, quoted quoting) {
	if i++; i < len(text) && text[i] == '>' { // as Ruby and PHP write it
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
		end := closing(text, at+1, slashes)
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

// bareEnd returns where a value ends that stands without quotes at the beginning of a text.
func bareEnd(text string) int {
	if n := strings.IndexAny(text, " \t\r\n\"'\\,;&<>(){}[]"+lineFeed+carriage+tab); n >= 0 {
		return n
	}
	return len(text)
}

// closing returns where the quote stands that ends a string; the one that begins it has so many backslashes before it. Of JSON in a string of JSON that is one, and
// three of what stands in a string of that: then a quote that belongs to the string has more. Whatever it is, the end of the outer string is the end.
func closing(text string, from, slashes int) int {
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

// isSecret tells whether what follows a name is a secret, or words about it. loose tells that the value is not in quotes and stands
// behind a colon, as words do.
func isSecret(name, value string, loose bool) bool {
	value = strings.TrimSuffix(value, ".")
	switch {
	case len(value) < 3, strings.ContainsAny(value, " \t\n["+lineFeed), strings.Trim(value, "*xX.•-") == "", isWord(value):
		return false // words, or a placeholder
	case slices.Contains(looseNames, name) && !allDigits(value):
		if loose || !strings.ContainsAny(value, digits) || len(value) < 16 {
			return false
		}
	}
	switch {
	case name == shortPassword && !strings.ContainsAny(value, digits):
		return false
	case isOneWord(value) && !isPassword(name): // "secret": "rotate" is about a secret
		return false
	case loose:
		return len(value) >= 6 && strings.ContainsAny(value, digits) || isLong(value)
	}
	return true
}

// isPassword tells whether a name is that of a secret that people think of, and which may be a word.
func isPassword(name string) bool {
	return slices.ContainsFunc([]string{"password", "passwd", "passphrase", "passcode", "pwd"}, func(s string) bool { return strings.HasSuffix(name, s) })
}

// isOneWord tells whether a value is a word as people write it. What machines make as a secret has digits, or letters of both cases
// in it, or is longer.
func isOneWord(s string) bool {
	return len(s) < 12 && (strings.Trim(s, letters) == "" || strings.Trim(s[1:], letters) == "" || strings.Trim(s, strings.ToUpper(letters)) == "")
}

// isLong tells whether a text without digits and signs is longer than words are.
func isLong(s string) bool {
	return len(s) >= 24 && strings.Trim(strings.ToLower(s), letters) == ""
}

func allDigits(s string) bool { return strings.Trim(s, digits) == "" }

// isWord tells whether a value says something about a secret: it is a word for that, or a code of several, such as too_short.
func isWord(value string) bool {
	switch strings.ToLower(value) {
	case "required", "missing", "invalid", "null", "nil", "none", "true", "false", "undefined", "empty", "blank", "string", "number", "object",
		"expired", "revoked", "unknown", "incorrect", "wrong", "denied", "mismatch", "forbidden", "unauthorized", "basic", "bearer", "password", "secret",
		"token", "optional", "text", "integer", "boolean", "array", "short", "weak", "yes", "not", "must", "should", "is", "cannot", "may":
		return true
	}
	return strings.ContainsAny(value, "_-") && (strings.Trim(value, letters+"_-") == "" || strings.Trim(value, strings.ToUpper(letters)+"_-") == "")
}
