package config

import (
	"fmt"
	"strings"
)

func (l *loader) most(key, text string, bytes int) {
	if len(text) > bytes {
		l.errorf(key, "has %d bytes, more than %d", len(text), bytes)
	}
}

// faulty reports whether a key below this one has an error.
func (l *loader) faulty(key string) bool {
	for k := range l.failed {
		if strings.HasPrefix(k, key+".") {
			return true
		}
	}
	return false
}

// patternKey returns the key path of a pattern, which may stand alone instead of in a list.
func patternKey(l *loader, list string, i int) string {
	if k := fmt.Sprintf("%s[%d]", list, i); l.given(k) {
		return k
	}
	return list
}

// selectorKey returns the key path of a selector, which may stand alone instead of in a list.
func selectorKey(l *loader, list string, i int) string {
	if k := fmt.Sprintf("%s[%d]", list, i); l.given(k) {
		return k
	}
	return list
}

// authority checks a file of certificates, and has it watched.
func (l *loader) authority(key string, file File) {
	if file == "" || !l.ok(key) {
		return
	}
	l.files = append(l.files, string(file))
	if strings.HasSuffix(key, ".cert_file") && l.secretMissing(key, file) {
		return
	}
	if _, _, _, err := authorities(file); err != nil {
		l.errorf(key, "%q %s", file, err)
	}
}

// keyFile checks that a file may be one with a private key. The code that uses the key checks its content.
func (l *loader) keyFile(key string, file File) {
	if file == "" || !l.ok(key) {
		return
	}
	l.files = append(l.files, string(file))
	data, info, err := readRegular(string(file))
	switch {
	case l.secretMissing(key, file):
	case err != nil:
		l.errorf(key, "%q can't be read: %s", file, err)
	case !strings.Contains(string(data), "PRIVATE KEY-----"):
		l.errorf(key, "%q holds no PEM private key", file)
	case info.Mode().Perm()&0o004 != 0:
		l.warnf(key, "the secret file %q can be read by every user of the machine", file)
	}
}

// checker returns a function that records what is wrong with a key that is given and has no error yet.
func (l *loader) checker(key string) func(name string, err error) {
	return func(name string, err error) {
		if err != nil && l.ok(key+"."+name) && l.given(key+"."+name) {
			l.errorf(key+"."+name, "%s", err)
		}
	}
}

// needCallers records an error where nobody has a token.
func (l *loader) needCallers(cfg *Config, key, message string) {
	if l.ok("auth", "auth.issuers", key) && (cfg.Auth == nil || cfg.Auth.Anonymous) {
		l.errorf(key, "%s", message)
	}
}
