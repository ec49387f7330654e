package config

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

// formats are the formats of texts that several keys have, by their names in the tag is.
var formats = map[string]func(text string) error{
	"api-name":         checkAPIName,
	"claim":            checkClaim,
	"dropped-argument": checkDropped,
	"issuer":           checkIssuer,
	"job-source":       checkJobSource,
	"role-claim":       func(name string) error { return checkClaimAs(name, "/realm_access/roles") },
	"scope":            checkScope,
	"text":             checkText,
	"token":            checkToken,
}

var apiName = regexp.MustCompile(`\A[A-Za-z0-9][A-Za-z0-9_-]{0,39}\z`)

func checkAPIName(name string) error {
	if !apiName.MatchString(name) {
		return fmt.Errorf("%s must be a letter or digit, then letters, digits, _ and -, at most 40", quote(name))
	}
	return nil
}

// checkClaim refuses what names no claim of a token.
func checkClaim(name string) error { return checkClaimAs(name, "/org/id") }

func checkClaimAs(name, example string) error {
	if strings.Trim(name, "/") == "" {
		return fmt.Errorf("must be the name of a claim or a JSON Pointer, such as %s", example)
	}
	return nil
}

// issuerPlaceholder finds what documentation writes in place of a value: {tenant}, <tenant> or *, which no token has.
var issuerPlaceholder = regexp.MustCompile(`\{[^{}/]*\}?|<[^<>/]*>?|\*|(?i:%7b[^/]*|%3c[^/]*)`)

// checkIssuer refuses an issuer with a placeholder: it is compared with iss exactly.
func checkIssuer(issuer string) error {
	if p := issuerPlaceholder.FindString(issuer); p != "" {
		return fmt.Errorf("has the placeholder %s, which no token has in iss; write the value that it stands for", quote(p))
	}
	return nil
}

// checkScope refuses what is not a scope-token (RFC 6749, 3.3).
func checkScope(s string) error {
	for _, c := range []byte(s) {
		if c <= ' ' || c >= 0x7f || c == '"' || c == '\\' {
			return errScope
		}
	}
	if s == "" {
		return errScope
	}
	return nil
}

var errScope = errors.New("is not a scope: spaces, quotes, backslashes and non-ASCII characters can't stand in one")

// maxDroppedName bounds the name of a dropped argument, in bytes. Names of arguments are short.
const maxDroppedName = 128

// checkDropped refuses what is no name of an argument that clients may add.
func checkDropped(name string) error {
	if at := strings.IndexFunc(name, unicode.IsControl); at >= 0 {
		return fmt.Errorf("holds the control character %U", []rune(name[at:])[0])
	}
	if len(name) > maxDroppedName {
		return fmt.Errorf("is longer than %d bytes", maxDroppedName)
	}
	return nil
}

// checkJobSource refuses a source of an argument that begins like a JSON Pointer and is malformed.
func checkJobSource(text string) error {
	if !strings.HasPrefix(text, "/") || len(text) > maxPointer {
		return nil
	}
	var p Pointer
	return p.parse(text)
}
