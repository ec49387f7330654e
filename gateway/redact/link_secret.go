package redact

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// A link can hold a secret: the signature of a presigned URL and the token of an invitation let everybody in. What follows takes them
// out of URLs that stay, of references without a host, and of URLs that are encoded.

// secretQuery are further names of query parameters, beside those of pairs, whose values are secrets.
var secretQuery = []string{
	"key", "code", "ticket", "hmac", "mac", "jwt", "auth", "authkey", "sid", "session", "assertion", "samlresponse", "hash", "cookie", "pass", "ott", "magic", "tok", "tk", "t", "k", "st",
	"authcode", "authorizationcode", "devicecode", "verificationcode", "confirmationcode", "activationcode", "invitecode", "invitationcode", "resetcode", "logincode", "accesscode", "onetimecode",
}

// longSecret are those of secretQuery whose values are often short and no secrets.
var longSecret = []string{"key", "code", "hash", "session", "auth", "ticket", "mac", "tok", "tk", "t", "k", "st"}

// leastSecret is the length in bytes from which a value of longSecret, or of a path, may be a secret.
const leastSecret = 16

// maxEncoded is how often a URL may be encoded in the query of another, to be looked at.
const maxEncoded = 3

// linkSecrets takes secrets out of links. What a URL in the query of another leads to stays if kept keeps it.
type linkSecrets struct{ kept *Kept }

// query returns the query and the fragment of a URL without the values of secret names.
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
			} else if less := l.value(value, encoded); less != "" {
				value = less
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

// value returns what replaces the value of a parameter that is a URL, a form or JSON, encoded or not: as in
// ?next=https%3A%2F%2Fdepot.example%2F%3Ftoken%3Dx; "" if it stays.
func (l linkSecrets) value(value string, encoded int) string {
	if strings.Contains(value, "://") && l.leadsInside(value) {
		return somewhere
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

// leadsInside reports whether a text has a URL that does not stay.
func (l linkSecrets) leadsInside(text string) bool {
	for _, at := range location.FindAllStringSubmatchIndex(text, -1) {
		if !l.kept.keeps(strings.ToLower(text[at[2]:at[3]]), text[at[4]:at[5]]) {
			return true
		}
	}
	return false
}

// isSecretQuery reports whether a query parameter is a secret. Unlike a pair in words it has no other meaning. Names of members in
// brackets count, too, as in user[password].
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
	return !slices.Contains(longSecret, name) || len(value) >= leastSecret && strings.ContainsAny(value, digits)
}

// linkWords are the segments of paths before the secret of a link: https://depot.example/reset-password/9f8a7c6b5d4e3f2a1b0c.
var linkWords = []string{
	"token", "tokens", "reset", "resetpassword", "passwordreset", "forgotpassword", "setpassword", "password", "magic", "magiclink", "magiclogin", "login", "signin", "invite", "invites", "invitation", "invitations",
	"join", "verify", "verification", "verifyemail", "emailverification", "confirm", "confirmation", "confirmemail", "emailconfirmation", "activate", "activation", "unsubscribe", "secret", "secrets", "session", "sessions",
}

// path returns the path of a URL, whose slashes may be escaped, without segments that are the secret of a link.
func (linkSecrets) path(path string) string {
	if len(path) < leastSecret {
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

// uuid finds a UUID (RFC 9562).
var uuid = regexp.MustCompile(`(?i)^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// isRandomSegment reports whether machines made a segment of a path: it is a UUID, or has a long run of letters and digits. Names of people have
// signs between their words.
func isRandomSegment(segment string) bool {
	if uuid.MatchString(segment) {
		return true
	}
	for run := range strings.FieldsFuncSeq(segment, func(r rune) bool { return r == '-' || r == '_' || r == '.' || r == '~' || r == '%' || r == '=' }) {
		if len(run) >= leastSecret && strings.ContainsAny(run, digits) && !allDigits(run) {
			return true
		}
	}
	return false
}

var (
	// The query of a reference without a host, /download?sig=x, or of a URL without a scheme.
	reference = regexp.MustCompile(`\?(?:\[redacted\]|\[[A-Za-z0-9_.-]*\]|[^\s\x01-\x03"'<>\\)\]}])*`)
	// A URL that is encoded as a value of a form or a query.
	encodedURL = regexp.MustCompile(`(?i)\b[a-z][a-z0-9+.-]{1,20}%(?:25)*3A(?:%(?:25)*2F){2}[^\s\x01-\x03"'<>\\)\]}&]*`)
)

// elsewhere returns a text between URLs without the secrets of its references, and without encoded URLs that do not stay.
func (l linkSecrets) elsewhere(text string) string {
	if strings.Contains(text, "%") {
		text = encodedURL.ReplaceAllStringFunc(text, func(found string) string {
			if less := l.value(found, maxEncoded); less != "" {
				return somewhere
			}
			return found
		})
	}
	if strings.Contains(text, "?") && strings.Contains(text, "=") {
		text = reference.ReplaceAllStringFunc(text, l.query)
	}
	return text
}
