package redact

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

var (
	// A private key (RFC 7468), whose lines may be escaped; one without an end extends to the end of the text.
	privateKey = regexp.MustCompile(`(?s)-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|\z)`)
	// A JWS or JWE in its compact form; the first part is the Base64 of an object.
	jwt = regexp.MustCompile(`\beyJ[A-Za-z0-9_=-]{5,}\.[A-Za-z0-9_=-]{2,}(?:\.[A-Za-z0-9_=-]*){0,3}`)
	// Tokens and keys that their prefix identifies: those of AWS, GitHub, GitLab, Slack, Stripe, Google, OpenAI, npm,
	// SendGrid, Hugging Face, Shopify, DigitalOcean, Vault, Grafana, PyPI, Atlassian, Linear, Doppler, Groq, Docker,
	// Square.
	known = regexp.MustCompile(`\b(?:(?:AKIA|ASIA|AGPA|AIDA|AROA|ANPA|ANVA|ABIA|ACCA)[A-Z0-9]{16}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,}|` +
		`xox[abeoprs]-[A-Za-z0-9-]{8,}|[sr]k_(?:live|test)_[A-Za-z0-9]{8,}|AIza[A-Za-z0-9_-]{30,}|ya29\.[A-Za-z0-9_-]{16,}|sk-[A-Za-z0-9_-]{20,}|npm_[A-Za-z0-9]{30,}|` +
		`SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}|hf_[A-Za-z0-9]{30,}|shp(?:at|ss|ca)_[A-Fa-f0-9]{30,}|do[por]_v1_[A-Fa-f0-9]{30,}|` +
		`hv[sb]\.[A-Za-z0-9_-]{20,}|gl(?:sa_|rt-|dt-)[A-Za-z0-9_-]{16,}|xapp-[A-Za-z0-9-]{12,}|whsec_[A-Za-z0-9+/=]{16,}|GOCSPX-[A-Za-z0-9_-]{20,}|pypi-[A-Za-z0-9_-]{16,}|ATATT3[A-Za-z0-9_=-]{16,}|` +
		`lin_api_[A-Za-z0-9]{20,}|dp\.(?:st|pt|ct)\.[A-Za-z0-9_.-]{20,}|gsk_[A-Za-z0-9]{20,}|dckr_pat_[A-Za-z0-9_-]{16,}|sq0[a-z]{3}-[A-Za-z0-9_-]{16,})`)
	// URLs whose path is the secret: anybody with the URL can write to a channel of Slack, Discord or Teams, or act as
	// a bot of Telegram.
	webhook = regexp.MustCompile(`(?i)\b((?:hooks\.slack\.com\\?/(?:services|workflows|triggers)|discord(?:app)?\.com\\?/api\\?/webhooks|[a-z0-9.-]+\.webhook\.office\.com\\?/webhookb2|api\.telegram\.org)\\?/(?:bot)?)` +
		`[^\s\x01-\x03"'<>?#,;)\]}]+`)
	// A name and a password in a URL (RFC 3986 section 3.2.1).
	userinfo = regexp.MustCompile(`(\b[A-Za-z][A-Za-z0-9+.-]{1,20}:(?:\\?/){2})[^\s/@"'<>\\]+@`)
	// The same in a reference without a scheme (section 4.2).
	relativeUserinfo = regexp.MustCompile(`((?:^|[\s"'(=,<>\x01-\x03])(?:\\?/){2})[^\s/@:"'<>\\]*:[^\s/@"'<>\\]+@`)
	// HTTP credentials (RFC 9110 section 11.1): the name of a scheme, and a possible value. Some JSON encoders escape
	// the slash.
	scheme = regexp.MustCompile(`(?i)\b(?:bearer|basic|dpop|negotiate|ntlm|digest|apikey|token)(?: |\+|%20)+["']?((?:[A-Za-z0-9._~+-]|\\*/){8,}=*)`)
	// A Cookie header field (RFC 6265), or a member of that name.
	cookie = regexp.MustCompile(`(?i)\b(?:set-)?cookie2?\\*["']?\s*[:=]\s*(?:\\*["'\[])*([A-Za-z0-9!#$%&*+.^_|~-]+=[^\r\n\x01\x02"'\\]*)`)
)

// Parts of the expressions below.
const (
	pairName  = `([A-Za-z0-9_.-]{2,80})`
	pairSpace = `[\s\x01-\x03]*`
	pairQuote = `\\*["']`
	pairValue = `([^"'\\\r\n\x01\x02]{3,})`
)

var (
	// The response to a challenge (RFC 7616).
	digest = regexp.MustCompile(`(?i)\b(response=\\*["']?)[0-9a-f]{32,}`)
	// A name and its value without a separator between them: members of one object, two elements of a list, an element
	// of XML.
	members = regexp.MustCompile(`(?i)(` + pairQuote + `(?:name|key|header|field|param|parameter)` + pairQuote + pairSpace + `:` + pairSpace + pairQuote + `)` + pairName + `(` + pairQuote + pairSpace + `,` + pairSpace +
		pairQuote + `val(?:ue)?` + pairQuote + pairSpace + `:` + pairSpace + pairQuote + `)` + pairValue)
	listed  = regexp.MustCompile(`([\[(]` + pairSpace + pairQuote + `)` + pairName + `(` + pairQuote + pairSpace + `,` + pairSpace + pairQuote + `)` + pairValue + `(` + pairQuote + pairSpace + `[\])])`)
	element = regexp.MustCompile(`(<(?:[A-Za-z0-9_.-]+:)?)` + pairName + `((?:\s[^<>\r\n\x01\x02]*)?>)([^<>\s"\\\x01-\x03]{3,})(<\\*/)`)
)

// The prefixes in known. The expression runs only if the text contains one of them.
var knownPrefixes = []string{"AKIA", "ASIA", "AGPA", "AIDA", "AROA", "ANPA", "ANVA", "ABIA", "ACCA", "gh", "glpat-", "xox", "k_live_", "k_test_", "AIza", "ya29.", "sk-", "npm_", "SG.", "hf_", "shp", "_v1_",
	"hvs.", "hvb.", "glsa_", "glrt-", "gldt-", "xapp-", "whsec_", "GOCSPX-", "pypi-", "ATATT3", "lin_api_", "dp.", "gsk_", "dckr_pat_", "sq0"}

// withoutKeys removes private keys. One that extends past the end of its string replaces the whole JSON text, since the
// rest would be invalid.
func withoutKeys(text string) string {
	cleaned := privateKey.ReplaceAllString(text, Placeholder)
	if cleaned != text && isValid(text) && !isValid(cleaned) {
		return `"` + Placeholder + `"`
	}
	return cleaned
}

// withoutSecrets removes everything whose form, or the name before it, identifies it as a secret. Most errors have
// none, so each expression runs only if a literal part of it is in the text; low is the text in lower case.
func withoutSecrets(text string) string {
	low := strings.ToLower(text)
	if strings.Contains(text, "-----BEGIN") {
		text = withoutKeys(text)
	}
	if strings.Contains(text, "eyJ") {
		text = jwt.ReplaceAllString(text, Placeholder)
	}
	if containsAny(text, knownPrefixes...) {
		text = known.ReplaceAllString(text, Placeholder)
	}
	if containsAny(low, "hooks.slack.com", "/webhooks", "webhook.office.com", "api.telegram.org") {
		text = webhook.ReplaceAllString(text, "${1}"+Placeholder)
	}
	if strings.Contains(text, "@") && strings.Contains(text, ":") {
		text = userinfo.ReplaceAllString(text, "${1}"+Placeholder+"@")
		text = relativeUserinfo.ReplaceAllString(text, "${1}"+Placeholder+"@")
	}
	if containsAny(low, "bearer", "basic", "dpop", "negotiate", "ntlm", "digest", "apikey", "token") {
		text = scheme.ReplaceAllStringFunc(text, func(found string) string {
			at := scheme.FindStringSubmatchIndex(found)
			if !looksRandom(found[at[2]:at[3]]) {
				return found
			}
			return found[:at[2]] + Placeholder
		})
	}
	if strings.Contains(low, "cookie") {
		text = cookie.ReplaceAllStringFunc(text, func(found string) string {
			return found[:cookie.FindStringSubmatchIndex(found)[2]] + Placeholder
		})
	}
	if strings.Contains(low, "response=") {
		text = digest.ReplaceAllString(text, "${1}"+Placeholder)
	}
	if containsAny(low, "pass", "pwd", "secret", "key", "auth", "credential", "token", "sig", "sid", "session", "sess", "otp", "pin", "cvv", "cvc", "cookie") {
		if containsAny(low, `value"`, `value'`, `value\`, `val"`, `val'`, `val\`) {
			text = withoutValues(text, members, 0)
		}
		if strings.ContainsAny(text, "[(") {
			text = withoutValues(text, listed, 12) // a shorter one may also be a name
		}
		if strings.Contains(text, "</") || strings.Contains(text, `<\`) {
			text = withoutValues(text, element, 0)
		}
	}
	return withoutPairs(text)
}

// withoutValues removes the value of a secret name. The expression captures the name in its second group, and the value
// in its fourth. If minLength is not 0, it is the minimum length of a value, which must also have digits.
func withoutValues(text string, pair *regexp.Regexp, minLength int) string {
	return pair.ReplaceAllStringFunc(text, func(found string) string {
		at := pair.FindStringSubmatchIndex(found)
		name, value := found[at[4]:at[5]], found[at[8]:at[9]]
		switch strings.ToLower(name) {
		case "cookie", "set-cookie":
			if !strings.Contains(value, "=") {
				return found
			}
		default:
			if name = secretName(name); name == "" || !isSecret(name, value, false) || minLength > 0 && (len(value) < minLength || !strings.ContainsAny(value, digits)) {
				return found
			}
		}
		return found[:at[8]] + Placeholder + found[at[9]:]
	})
}

func containsAny(text string, parts ...string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(text, part) })
}

// looksRandom distinguishes a token from a word after the name of a scheme, as in "Bearer authentication required".
func looksRandom(value string) bool {
	if strings.ContainsAny(value, digits) || isLong(value) {
		return true
	}
	low := strings.IndexFunc(value, unicode.IsLower)
	return low >= 0 && strings.IndexFunc(value[low:], unicode.IsUpper) >= 0
}
