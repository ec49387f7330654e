package config

import "strings"

func (con *Console) validate(c cursor) {
	admin := &c.config().Admin
	if u := con.URL; u != nil && c.ok("url") && strings.Trim(u.URL().Path, "/") != "" {
		c.errorf("url", "must have no path and no query: the console is below /console")
	}
	names := map[string]string{"admin": ""}
	tokens := map[string]string{admin.Token.Reveal(): "admin.token"}
	for i, t := range con.Tokens {
		key := c.item("tokens", i)
		if at := join(key, "name"); c.ok(at) {
			switch first, taken := names[t.Name]; {
			case taken && first == "":
				c.errorf(at, "is the name of the operator who signs in with admin.token; choose another")
			case taken:
				c.errorf(at, "is the name of %s too", first)
			case len(t.Name) > 100 || strings.ContainsFunc(t.Name, func(r rune) bool { return r < ' ' || r == 0x7f }):
				c.errorf(at, "must have at most 100 bytes and no control characters")
			}
			names[t.Name] = c.path(key)
		}
		at, token := join(key, "token"), t.Token.Reveal()
		if first := tokens[token]; first != "" && token != "" && c.ok(at) {
			c.errorf(at, "is the same as %s: a token has one name and one role", first)
			continue
		}
		tokens[token] = c.path(at)
	}
	switch {
	case con.OIDC == nil:
	case admin.ConsoleURL() == "" && c.ok("url") && c.loader.ok("admin.listen"):
		c.errorf("oidc", "needs admin.console.url, since admin.listen does not say how browsers reach the console: the provider sends them back there")
	case con.URL == nil && !admin.Listen.Loopback() && c.loader.ok("admin.listen"):
		c.errorf("oidc", "needs admin.console.url with https, since admin.listen is not a loopback address: the provider's response would be sent in the clear")
	}
}
