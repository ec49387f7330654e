package config

import (
	"fmt"
	"slices"
	"strings"
)

// Console is the console: pages for operators on the admin listener, below /console.
type Console struct {
	// Serves the console.
	Enabled *bool `yaml:"enabled,omitempty" absent:"true if admin.listen is a loopback address"`
	// The URL by which browsers reach the console, without a path: https, or http for loopback. Its host is accepted in the
	// Host header.
	URL *URL `yaml:"url,omitempty" absent:"http:// and admin.listen"`
	// Tokens that sign in, besides admin.token, which has the role operate and the name admin.
	Tokens []ConsoleToken `yaml:"tokens,omitempty" absent:"none"`
	// Signs people in at an OpenID provider, in addition to tokens.
	OIDC *ConsoleOIDC `yaml:"oidc,omitempty" absent:"none: tokens sign in"`
	// Shows arguments and answers of calls to the role operate, without secrets and cut. They may contain personal data.
	ShowBodies bool `yaml:"show_bodies" default:"false"`
}

// ConsoleRole is what somebody may do in the console.
type ConsoleRole string

// The values of [ConsoleRole].
const (
	ConsoleView    ConsoleRole = "view"    // look at everything but callers, arguments and answers
	ConsoleOperate ConsoleRole = "operate" // in addition accept, reload and try
)

func (ConsoleRole) values() []string { return []string{"view", "operate"} }

// ConsoleToken is a token that signs in to the console.
type ConsoleToken struct {
	// The name of who signs in, as the audit log and the log have it.
	Name string `yaml:"name" need:"true"`
	// The token, at least 16 characters.
	Token Secret `yaml:"token" need:"true"`
	// view shows everything but callers, arguments and answers; operate also accepts held changes, reloads and tries tools.
	Role ConsoleRole `yaml:"role" default:"view"`
}

// ConsoleOIDC is the OpenID provider at which people sign in to the console, with the authorization code flow and PKCE.
type ConsoleOIDC struct {
	// The issuer identifier, https, or http for loopback. Its metadata is at /.well-known/openid-configuration.
	Issuer URL `yaml:"issuer" need:"true"`
	// The client id of the console. Its redirect URI is that of console.url with /console/signin/callback.
	ClientID string `yaml:"client_id" need:"true"`
	// The client secret.
	ClientSecret Secret `yaml:"client_secret,omitempty" absent:"a public client"`
	// Further scopes to request besides openid.
	Scopes []string `yaml:"scopes,omitempty" absent:"profile"`
	// The claim of the ID token with the names that roles has: a string with spaces or a list of strings. A name that begins
	// with '/' is a JSON Pointer, such as /realm_access/roles.
	RolesClaim string `yaml:"roles_claim" default:"groups"`
	// The values of roles_claim that have each role. Who has none of them is not let in.
	Roles ConsoleRoles `yaml:"roles" need:"true"`
	// PEM certificates that are trusted for this issuer instead of the system's.
	CAFile File `yaml:"ca_file,omitempty" absent:"the system's certificates"`
	// The proxy for the issuer.
	Proxy *Proxy `yaml:"proxy,omitempty" absent:"the root's proxy"`
}

// ConsoleRoles are the values of a claim that have a role.
type ConsoleRoles struct {
	// Values that have the role view.
	View []string `yaml:"view,omitempty" absent:"none"`
	// Values that have the role operate.
	Operate []string `yaml:"operate,omitempty" absent:"none"`
}

// ConsoleOn reports whether the console is served.
func (a *Admin) ConsoleOn() bool {
	if a.Console.Enabled != nil {
		return *a.Console.Enabled
	}
	return a.Listen.Loopback()
}

// ConsoleURL returns the URL by which browsers reach the console, without a path; "" if it is not known.
func (a *Admin) ConsoleURL() string {
	if a.Console.URL != nil {
		u := a.Console.URL.URL()
		return u.Scheme + "://" + u.Host
	}
	if a.Listen.anyHost() || a.Listen.Port() == "0" {
		return ""
	}
	return "http://" + a.Listen.URLHost() + ":" + a.Listen.Port()
}

// ConsoleSecure reports whether browsers reach the console over HTTPS.
func (a *Admin) ConsoleSecure() bool { return strings.HasPrefix(a.ConsoleURL(), "https:") }

// console validates admin.console.
func (l *loader) console(a *Admin) {
	c := &a.Console
	const key = "admin.console"
	if u := c.URL; u != nil && l.ok(key+".url") {
		if at := u.URL(); strings.Trim(at.Path, "/") != "" || at.RawQuery != "" {
			l.errorf(key+".url", "must have no path and no query: the console is below /console")
		} else if at.Scheme != "https" && !u.Loopback() {
			l.errorf(key+".url", "must be https, or http for a loopback host: the cookie of the console would be sent in the clear")
		}
	}
	names := map[string]int{"admin": -1}
	for i := range c.Tokens {
		l.consoleToken(names, i, &c.Tokens[i])
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
