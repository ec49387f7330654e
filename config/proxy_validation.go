package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"drawbridge/openapi/origin"
)

func (p *Proxy) validate(c cursor) {
	if p.off || c.unread("url") {
		return
	}
	if p.CAFile != "" && c.ok("ca_file") {
		c.authority(c.path("ca_file"), p.CAFile)
		if p.URL.at.scheme != "https" {
			c.errorf("ca_file", "has no effect: the URL is not https")
		} else if c.ok("ca_file") {
			data, _, _ := readRegular(string(p.CAFile)) // authority has reported an error
			p.authorities = string(data)
		}
	}
	for _, u := range []*ProxyURL{p.plain, p.secure} {
		if u != nil && !(p.environment && u == p.secure && p.plain != nil && *p.plain.at == *p.secure.at) {
			p.validateUser(c, u)
		}
		if !p.environment {
			break // both are the same
		}
	}
	if p.ResolvesNames() {
		c.warnf("resolve", "the proxy resolves names, so that the addresses of services are not checked: its own rules must keep connections from private and metadata addresses")
	}
}

// validateUser checks the user and password for a proxy.
func (p *Proxy) validateUser(c cursor, u *ProxyURL) {
	at, where := u.at, "url"
	if p.environment {
		where = ""
	}
	switch {
	case p.User != "" && at.user != "":
		c.errorf("user", "stands in the URL too")
		return
	case !p.Password.IsZero() && at.hasPassword:
		c.errorf("password", "stands in the URL too")
		return
	case !c.ok(where, "user", "password"):
		return
	}
	user, password := p.Reveal(u)
	if user == "" && password != "" {
		c.errorf(where, "has a password without a user")
		return
	}
	if user == "" {
		return
	}
	if err := checkProxyUser(at.scheme, user, password); err != nil {
		c.errorf(where, "%s", err)
	}
	if at.scheme != "https" && !origin.Loopback(at.host) {
		c.warnf(where, "the password for the proxy travels in clear; https protects it")
	}
}

// checkProxyUser rejects credentials that the protocol can't transport (RFC 7617 section 2, RFC 1929 section 2).
func checkProxyUser(scheme, user, password string) error {
	const most = 255 // bytes
	switch {
	case strings.ContainsFunc(user+password, unicode.IsControl):
		return errors.New("has a control character in the user or password of the proxy")
	case scheme == "socks5" && (len(user) > most || len(password) > most || password == ""):
		return fmt.Errorf("needs a user and password of 1 to %d bytes each, for socks5", most)
	case scheme != "socks5" && strings.Contains(user, ":"):
		return errors.New("has a user with a colon, which Proxy-Authorization can't transport")
	}
	return nil
}

// validateProxies checks the proxies of an API against its other keys.
func (a *API) validateProxies(c cursor) {
	a.validateAddresses(c)
	if c.given("spec_proxy") && !a.Spec.IsURL() && len(a.AllowRefs) == 0 && !slices.ContainsFunc(a.Overlays, Location.IsURL) && c.ok("spec") {
		c.errorf("spec_proxy", "has no effect: the document is a file, and nothing else is fetched for it")
	}
}

// validateProxies rejects a provider whose services nothing would bind to servers: a proxy that resolves names decides which addresses
// these stand for.
func (d *Discovery) validateProxies(c cursor) {
	shared, _ := d.Settings()
	shared.validateAddresses(c)
	if len(d.AllowServers) > 0 || len(d.AllowAddresses) > 0 || !c.ok("allow_servers", "allow_addresses") {
		return
	}
	for _, p := range []*Proxy{shared.Proxy, shared.SpecProxy} {
		if p.ResolvesNames() {
			c.errorf("allow_servers", "is required with resolve: proxy of the proxy %s, which resolves names itself: otherwise the registry decides which addresses are called", p.URL)
			return
		}
	}
}

// validateAddresses rejects address rules that nobody would apply: see docs/contributing/adr/0036.
func (a *API) validateAddresses(c cursor) {
	if len(a.AllowAddresses) == 0 || !c.ok("allow_addresses") {
		return
	}
	for _, p := range []*Proxy{a.Proxy, a.SpecProxy} {
		if p.ResolvesNames() {
			c.errorf("allow_addresses", "can't be enforced with resolve: proxy of the proxy %s, which resolves names itself: "+
				"restrict addresses there and leave this out, or let the gateway resolve names", p.URL)
			return
		}
	}
}
