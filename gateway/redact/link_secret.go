package redact

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// A link can hold a secret: the signature of a presigned URL and the token of an invitation grant access to anybody.
// This file removes them from URLs that stay, from references without a host, and from encoded URLs.

// secretQuery lists query parameters whose values are secrets, in addition to the names of pairs.
var secretQuery = []string{
	"key", "code", "ticket", "hmac", "mac", "jwt", "auth", "authkey", "sid", "session", "assertion", "samlresponse", "hash", "cookie", "pass", "ott", "magic", "tok", "tk", "t", "k", "st",
	"authcode", "authorizationcode", "devicecode", "verificationcode", "confirmationcode", "activationcode", "invitecode", "invitationcode", "resetcode", "logincode", "accesscode", "onetimecode",
}

// ambiguousQuery are the names of secretQuery whose short values are usually not secrets.
var ambiguousQuery = []string{"key", "code", "hash", "session", "auth", "ticket", "mac", "tok", "tk", "t", "k", "st"}

// minSecret is the minimum length in bytes of a secret in the value of an ambiguousQuery parameter, or in a path.
const minSecret = 16

// maxEncoded limits how many levels of encoding of a URL in the query of another are decoded.
const maxEncoded = 3

// linkSecrets removes secrets from links. The target of a URL in the query of another stays if kept keeps it.
type linkSecrets struct{ kept *Kept }

// query returns the query and the fragment of a URL without the values of secret parameters.
func (l linkSecrets) query(tail string) string { return l.queryOf(tail, maxEncoded) }

func (l linkSecrets) queryOf(tail string, encoded int) string {
	if !strings.Contains(tail, "=") {
		return tail
	}
	var b strings.Builder
	for len(tail) > 0 {
		end := strings.IndexAny(tail[1:], "?&;#") + 1
		if end == 0 {
			end = len(tail)
		}
		name, value, found := strings.Cut(tail[:end], "=")
		if found && value != "" {
			if isSecretQuery(name, value) {
				value = Placeholder
			} else if cleaned := l.value(value, encoded); cleaned != "" {
				value = cleaned
			}
		}
		b.WriteString(name)
		if found {
			b.WriteString("=" + value)
		}
		tail = tail[end:]
	}
	return b.String()
}

// value returns the replacement of the value of a parameter that is a URL, a form or JSON, encoded or not, as in
// ?next=https%3A%2F%2Fdepot.example%2F%3Ftoken%3Dx; "" if the value stays.
func (l linkSecrets) value(value string, encoded int) string {
	if strings.Contains(value, "://") && l.hasInternalURL(value) {
		return addressPlaceholder
	}
	if encoded == 0 || !strings.Contains(value, "%") {
		return ""
	}
	decoded, err := url.QueryUnescape(value)
	switch {
	case err != nil || !strings.ContainsAny(decoded, "=%:"):
		return ""
	case withoutSecrets(decoded) != decoded || strings.Contains(decoded, "=") && l.queryOf("?"+decoded, encoded-1) != "?"+decoded:
		return Placeholder
	}
	return l.value(decoded, encoded-1)
}

// hasInternalURL reports whether a text has a URL that is not kept.
func (l linkSecrets) hasInternalURL(text string) bool {
	for _, at := range location.FindAllStringSubmatchIndex(text, -1) {
		if !l.kept.keeps(strings.ToLower(text[at[2]:at[3]]), text[at[4]:at[5]]) {
			return true
		}
	}
	return false
}

// isSecretQuery reports whether a query parameter is a secret. Unlike a pair in prose, it has no other meaning. Names
// of members in brackets count, too, as in user[password].
func isSecretQuery(name, value string) bool {
	name = strings.TrimLeft(name, "?&;#")
	if decoded, err := url.QueryUnescape(name); err == nil {
		name = decoded
	}
	if strings.ContainsAny(name, "[]") {
		return slices.ContainsFunc(strings.FieldsFunc(name, func(r rune) bool { return r == '[' || r == ']' }), func(part string) bool { return isSecretQuery(part, value) })
	}
	if secretName(name) != "" {
		return true
	}
	name = strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(name))
	if !slices.Contains(secretQuery, name) {
		return false
	}
	return !slices.Contains(ambiguousQuery, name) || len(value) >= minSecret && strings.ContainsAny(value, digits)
}

// linkWords are path segments that precede the secret of a link:
// https://depot.example/reset-password/9f8a7c6b5d4e3f2a1b0c.
var linkWords = []string{
	"token", "tokens", "reset", "resetpassword", "passwordreset", "forgotpassword", "setpassword", "password", "magic", "magiclink", "magiclogin", "login", "signin", "invite", "invites", "invitation", "invitations",
	"join", "verify", "verification", "verifyemail", "emailverification", "confirm", "confirmation", "confirmemail", "emailconfirmation", "activate", "activation", "unsubscribe", "secret", "secrets", "session", "sessions",
}

// path returns the path of a URL, whose slashes may be escaped, without the segments that hold a secret.
func (linkSecrets) path(path string) string {
	if len(path) < minSecret {
		return path
	}
	segments := strings.Split(path, "/")
	for i := 1; i < len(segments); i++ {
		before := strings.ToLower(strings.NewReplacer("_", "", "-", "", `\`, "").Replace(segments[i-1]))
		segment := strings.TrimRight(segments[i], `\`)
		if slices.Contains(linkWords, before) && isRandomSegment(segment) {
			segments[i] = Placeholder + segments[i][len(segment):]
		}
	}
	return strings.Join(segments, "/")
}

// uuid matches a UUID (RFC 9562).
var uuid = regexp.MustCompile(`(?i)^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// isRandomSegment reports whether a path segment is machine-generated: a UUID, or a long run of letters and digits.
// Names that people choose have punctuation between their words.
func isRandomSegment(segment string) bool {
	if uuid.MatchString(segment) {
		return true
	}
	for run := range strings.FieldsFuncSeq(segment, func(r rune) bool { return r == '-' || r == '_' || r == '.' || r == '~' || r == '%' || r == '=' }) {
		if len(run) >= minSecret && strings.ContainsAny(run, digits) && !allDigits(run) {
			return true
		}
	}
	return false
}

var (
	// The query of a reference without a host, /download?sig=x, or of a URL without a scheme.
	reference = regexp.MustCompile(`\?(?:\[redacted\]|\[[A-Za-z0-9_.-]*\]|[^\s\x01-\x03"'<>\\)\]}])*`)
	// A URL that is percent-encoded as a value of a form or a query.
	encodedURL = regexp.MustCompile(`(?i)\b[a-z][a-z0-9+.-]{1,20}%(?:25)*3A(?:%(?:25)*2F){2}[^\s\x01-\x03"'<>\\)\]}&]*`)
)

// betweenURLs returns a text between URLs without the secrets of its references, and without encoded URLs that are not
// kept.
func (l linkSecrets) betweenURLs(text string) string {
	if strings.Contains(text, "%") {
		text = encodedURL.ReplaceAllStringFunc(text, func(found string) string {
			if cleaned := l.value(found, maxEncoded); cleaned != "" {
				return addressPlaceholder
			}
			return found
		})
	}
	if strings.Contains(text, "?") && strings.Contains(text, "=") {
		text = reference.ReplaceAllStringFunc(text, l.query)
	}
	return text
}
