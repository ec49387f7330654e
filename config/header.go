package config

import (
	"errors"
	"slices"
	"strings"
)

// headerToken reports whether s is a token (RFC 9110, 5.6.2).
func headerToken(s string) bool {
	for _, c := range []byte(s) {
		if !alphanumeric(c) && !strings.ContainsRune("!#$%&'*+-.^_`|~", rune(c)) {
			return false
		}
	}
	return s != ""
}

// sameHeader reports whether some server takes two names for the same: CGI and WSGI turn "-" into "_".
func sameHeader(a, b string) bool {
	return strings.EqualFold(strings.ReplaceAll(a, "_", "-"), strings.ReplaceAll(b, "_", "-"))
}

// checkToken refuses what can't be a bearer token in an Authorization header.
func checkToken(token string) error {
	if strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return errors.New("holds a space, a line break or another character that can't stand in a token")
	}
	return nil
}

// checkText rejects characters that a header's value can't have.
func checkText(s string) error {
	if strings.ContainsFunc(s, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
		return errors.New("holds a line break or another control character")
	}
	return nil
}

// checkHeader refuses header names that are not an API key's to set.
func checkHeader(name string) error {
	switch {
	case !headerToken(name):
		return errors.New("is not a header name")
	case slices.Contains([]string{
		"host", "content-length", "content-type", "content-encoding", "accept", "accept-encoding", "transfer-encoding",
		"te", "trailer", "upgrade", "connection", "keep-alive", "expect", "cookie", "proxy-connection", "proxy",
	}, strings.ToLower(strings.ReplaceAll(name, "_", "-"))):
		return errors.New("the gateway sets this header itself")
	}
	return nil
}
