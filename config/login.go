package config

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"drawbridge/openapi/origin"
)

// Login is the request with which the gateway logs in to a service, and the place of the token in the response.
type Login struct {
	// The URL of the login: a path on the origin of base_url, or an absolute URL. An absolute URL is https, or http for
	// loopback and the origin of base_url. Redirects are not followed.
	URL string `yaml:"url" required:"true"`
	// The method of the request.
	Method LoginMethod `yaml:"method" default:"POST"`
	// The body as JSON. {{username}} and {{password}} in texts stand for the credential's.
	JSON LoginBody `yaml:"json,omitempty" absent:"username and password, unless form is given" empty:"leave it out" excludes:"form"`
	// The body as a form, a mapping of texts. {{username}} and {{password}} stand for the credential's.
	Form LoginBody `yaml:"form,omitempty" absent:"none" empty:"leave it out"`
	// A JSON Pointer to the token in the response.
	TokenPointer Pointer `yaml:"token_pointer,omitempty" absent:"token_header or token_cookie"`
	// The header of the response that has the token.
	TokenHeader string `yaml:"token_header,omitempty" absent:"token_pointer or token_cookie"`
	// The cookie of the response that is the token.
	TokenCookie string `yaml:"token_cookie,omitempty" absent:"token_pointer or token_header"`
	// The scheme before the token in a header, such as Token.
	Scheme string `yaml:"scheme,omitempty" absent:"Bearer in the header Authorization, else none"`
	// A JSON Pointer to the lifetime of the token in the response, in seconds.
	LifetimePointer Pointer `yaml:"lifetime_pointer,omitempty" absent:"none" access:"none: when a token is renewed"`
	// The lifetime of a token whose response does not tell it.
	Lifetime Duration `yaml:"lifetime,omitempty" min:"10s" max:"24h" absent:"24h; a token is renewed earlier if the service answers 401" access:"none: when a token is renewed"`
}

// location returns the part of requests that has the token; in and name are what the file says of it.
func (g *Login) location(in KeyLocation, name string) (KeyLocation, string) {
	if in == "" && g.TokenCookie != "" && name == "" {
		in = KeyInCookie
	}
	if in = cmp.Or(in, KeyInHeader); name != "" {
		return in, name
	}
	switch in {
	case KeyInHeader:
		return in, "Authorization"
	case KeyInCookie:
		return in, g.TokenCookie
	case KeyInQuery:
	}
	return in, ""
}

// TokenScheme returns the scheme before the token in a header, "" for none.
func (g *Login) TokenScheme(in KeyLocation, name string) string {
	if in, name = g.location(in, name); g.Scheme == "" && in == KeyInHeader && sameHeader(name, "Authorization") {
		return "Bearer"
	}
	return g.Scheme
}

// IsPath reports whether the URL is a path at the service.
func (g *Login) IsPath() bool { return strings.HasPrefix(g.URL, "/") }

// Resolve returns the URL of the login at a service.
func (g *Login) Resolve(service *url.URL) (*url.URL, error) {
	u, err := url.Parse(g.URL)
	if err != nil {
		return nil, errors.New("login.url is not a URL")
	}
	if g.IsPath() {
		return (&url.URL{Scheme: service.Scheme, Host: service.Host}).ResolveReference(u), nil
	}
	return u, nil
}

// ContentType returns the media type of the body.
func (g *Login) ContentType() string {
	if len(g.Form) > 0 {
		return "application/x-www-form-urlencoded"
	}
	return "application/json"
}

// Body returns the body of the request for a user name and password.
func (g *Login) Body(username, password string) []byte {
	value := func(name string) string {
		if name == "password" {
			return password
		}
		return username
	}
	switch {
	case len(g.Form) > 0:
		form := make(url.Values, len(g.Form))
		for name, v := range g.Form {
			form.Set(name, v.text.Fill(value))
		}
		return []byte(form.Encode())
	case len(g.JSON) > 0:
		return g.JSON.appendJSON(nil, func(name string) (string, bool) { return value(name), true })
	}
	return fmt.Appendf(nil, `{"username":%s,"password":%s}`, quoted(username), quoted(password))
}

// LoginBody has the members of a body, whose texts are templates. It has no secrets: the file can't refer to them in it.
type LoginBody map[string]Value

func (b *LoginBody) read(l *loader, n *yaml.Node, key string) {
	if at := referenceIn(n, key, "${"); at != "" {
		l.errorf(at, "can't have references: give the secret as password, and write {{password}} here")
		return
	}
	l.mapping(n, reflect.ValueOf(b).Elem(), key)
}

func (LoginBody) expects() string { return "a mapping" }

// MarshalText returns the body as JSON, with the places as they are written.
func (b LoginBody) MarshalText() ([]byte, error) {
	return b.appendJSON(nil, func(name string) (string, bool) { return "{{" + name + "}}", true }), nil
}

func (b LoginBody) appendJSON(dst []byte, value func(name string) (string, bool)) []byte {
	var members []valueMember
	for _, name := range slices.Sorted(maps.Keys(b)) {
		members = append(members, valueMember{name, b[name]})
	}
	return appendMembers(dst, members, value)
}

func (g *Login) validate(c cursor) {
	c.check("url", checkLoginURL(g.URL))
	g.validateToken(c)
	for _, name := range slices.Sorted(maps.Keys(g.Form)) {
		if at := join("form", name); g.Form[name].text == nil && c.ok(at) {
			c.errorf(at, "must be a text")
		}
	}
	sent := len(g.JSON)+len(g.Form) == 0
	for key, body := range map[string]LoginBody{"json": g.JSON, "form": g.Form} {
		for _, name := range slices.Sorted(maps.Keys(body)) {
			for _, place := range body[name].Places() {
				sent = sent || place == "password"
				if at := join(key, name); place != "username" && place != "password" && c.ok(at) {
					c.errorf(at, "has a place {{%s}}; there are {{username}} and {{password}}", place)
				}
			}
		}
	}
	if !sent && !c.faulty("json") && !c.faulty("form") {
		c.errorf("", "sends no password: write {{password}} in json or form")
	}
}

// validateToken checks the place of the token in the response.
func (g *Login) validateToken(c cursor) {
	given := 0
	for _, name := range []string{"token_pointer", "token_header", "token_cookie"} {
		if c.given(name) {
			given++
		}
	}
	if given != 1 && c.ok("token_pointer", "token_header", "token_cookie") {
		c.errorf("", "needs one of token_pointer, token_header, token_cookie: the place of the token in the response")
	}
	for _, name := range []struct{ key, value string }{{"token_header", g.TokenHeader}, {"token_cookie", g.TokenCookie}, {"scheme", g.Scheme}} {
		if c.given(name.key) && !headerToken(name.value) {
			c.check(name.key, errors.New("holds a character that can't stand in a name"))
		}
	}
}

// validateRecipient checks that the password travels in plain text only to a service that is called so anyway.
func (g *Login) validateRecipient(c cursor, service string) {
	to, ok := origin.Parse(g.URL)
	if home, _ := origin.Parse(service); !ok || g.IsPath() || isProtected(g.URL) || to == home || !c.ok("url") {
		return
	}
	c.errorf("url", "must be https, or a path on the origin of the service: a password is sent to it")
}

// checkLoginURL refuses a URL that is neither a path nor absolute.
func checkLoginURL(text string) error {
	if strings.Contains(text, "://") && text[0] != '/' {
		_, err := parseHTTP(text)
		return err
	}
	if !strings.HasPrefix(text, "/") || strings.HasPrefix(text, "//") {
		return errors.New("must be a path on the origin of base_url, such as /api/login, or an absolute URL")
	}
	if u, err := url.Parse(text); err != nil || u.Fragment != "" {
		return errors.New("must be a path without a fragment, such as /api/login")
	}
	return nil
}
