package elicit

import (
	"strings"
	"unicode"
)

// namesSecret reports whether a name is that of a secret. Forms must not ask for one: they show the input as typed, and
// the client and its model may keep it (mcp-E6).
func namesSecret(name string) bool {
	joined := " " + strings.Join(words(name), " ") + " "
	for _, word := range []string{"pwd", "secret", "token", "otp", "pin", "cvv", "cvc", "ssn"} {
		if strings.Contains(joined, " "+word+" ") {
			return true
		}
	}
	return mentionsSecret(name)
}

// mentionsSecret reports whether a text has a word for a secret, also within a longer word.
func mentionsSecret(text string) bool {
	joined := strings.Join(words(text), "")
	for _, word := range []string{"password", "passwort", "passwd", "passphrase", "passcode", "contraseña", "motdepasse", "credential", "apikey", "privatekey",
		"accesskey", "secretkey", "clientsecret", "accesstoken", "refreshtoken", "authtoken", "bearertoken", "cardnumber", "creditcard", "seedphrase", "mfacode",
		"securitycode", "verificationcode"} {
		if strings.Contains(joined, word) {
			return true
		}
	}
	return false
}

// words splits a name into its words in lower case: apiKey, api_key and API-Key have two.
func words(name string) []string {
	var b strings.Builder
	var before rune
	for _, r := range name {
		if unicode.IsUpper(r) && (unicode.IsLower(before) || unicode.IsDigit(before)) {
			b.WriteByte(' ')
		}
		if !unicode.IsLetter(r) {
			r = ' '
		}
		b.WriteRune(unicode.ToLower(r))
		before = r
	}
	return strings.Fields(b.String())
}
