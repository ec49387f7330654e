package config

import (
	"fmt"
	"slices"
	"strings"
)

// console validates admin.console.
func (l *loader) console(a *Admin) {
	c := &a.Console
	const key = "admin.console"
	if u := c.URL; u != nil && l.ok(key+".url") {
		at := u.URL()
		if strings.Trim(at.Path, "/") != "" || at.RawQuery != "" {
			l.errorf(key+".url", "must have no path and no query: the console is below /console")
		}
		if at.Scheme != "https" && !u.Loopback() {
			l.errorf(key+".url", "must be https, or http for a loopback host: the cookie of the console would be sent in the clear")
		}
	}
	names := map[string]int{"admin": -1}
	tokens := map[string]string{a.Token.Reveal(): "admin.token"}
	for i := range c.Tokens {
		l.consoleToken(names, i, &c.Tokens[i])
		at, token := fmt.Sprintf("%s.tokens[%d].token", key, i), c.Tokens[i].Token.Reveal()
		if first := tokens[token]; first != "" && token != "" && l.ok(at) {
			l.errorf(at, "is the same as %s: a token has one name and one role", first)
			continue
		}
		tokens[token] = at
	}
	if c.OIDC != nil {
		l.consoleOIDC(c.OIDC)
		if a.ConsoleURL() == "" && l.ok(key+".url", "admin.listen") {
			l.errorf(key+".oidc", "needs %s.url, since admin.listen does not say how browsers reach the console: the provider sends them back there", key)
		} else if c.URL == nil && !a.Listen.Loopback() && l.ok("admin.listen") {
			l.errorf(key+".oidc", "needs %s.url with https, since admin.listen is not a loopback address: the provider's response would be sent in the clear", key)
		}
	}
}

// consoleToken validates one of admin.console.tokens.
func (l *loader) consoleToken(names map[string]int, i int, t *ConsoleToken) {
	key := fmt.Sprintf("%s[%d]", "admin.console.tokens", i)
	if l.ok(key + ".name") {
		switch first, taken := names[t.Name]; {
		case taken && first < 0:
			l.errorf(key+".name", "is the name of who signs in with admin.token; choose another")
		case taken:
			l.errorf(key+".name", "is the name of %s too", fmt.Sprintf("%s[%d]", "admin.console.tokens", first))
		case len(t.Name) > 100 || strings.ContainsFunc(t.Name, func(r rune) bool { return r < ' ' || r == 0x7f }):
			l.errorf(key+".name", "must have at most 100 bytes and no control characters")
		}
		names[t.Name] = i
	}
	if !t.Token.IsZero() && l.ok(key+".token") {
		l.operatorToken(key+".token", t.Token)
	}
}

// consoleOIDC validates admin.console.oidc.
func (l *loader) consoleOIDC(o *ConsoleOIDC) {
	const key = "admin.console.oidc"
	if at := o.Issuer.URL(); l.ok(key+".issuer") && at.Scheme != "https" && !o.Issuer.Loopback() {
		l.errorf(key+".issuer", "must be https, or http for a loopback host")
	}
	l.authority(key+".ca_file", o.CAFile)
	if len(o.Roles.View)+len(o.Roles.Operate) == 0 && l.ok(key+".roles") {
		l.errorf(key+".roles", "must name a value of %s in view or operate: nobody could sign in", o.RolesClaim)
	}
	for i, value := range o.Roles.View {
		if slices.Contains(o.Roles.Operate, value) {
			l.errorf(fmt.Sprintf("%s[%d]", key+".roles.view", i), "%q is in roles.operate too, which includes view", value)
		}
	}
}
