package config

// clearToken checks the token of a registry, and warns if it is sent without TLS.
func (l *loader) clearToken(key, name string, to URL, token Secret) {
	if token.IsZero() || !l.ok(key+".token") {
		return
	}
	if err := checkToken(token.Reveal()); err != nil {
		l.errorf(key+".token", "%s", err)
	}
	if at := key + "." + name; l.ok(at) && to.parsed != nil && to.parsed.Scheme == "http" && !to.Loopback() {
		l.warnf(at, "the token travels in clear; https protects it")
	}
}

// completeAccount checks that a registry has both a user and a password, or neither. It reports whether that is so, and the
// values, with the URL of that name, are as they should be.
func (l *loader) completeAccount(key, url, username string, password Secret) bool {
	if !l.ok(key+".username", key+".password", key+"."+url) {
		return false
	}
	if (username == "") != password.IsZero() {
		l.errorf(key, "needs both username and password, or neither")
		return false
	}
	return true
}

// clearPassword warns if the password of a registry's user is sent without TLS.
func (l *loader) clearPassword(at string, to URL, username string) {
	if username != "" && to.parsed != nil && to.parsed.Scheme == "http" && !to.Loopback() {
		l.warnf(at, "the password travels in clear; https protects it")
	}
}
