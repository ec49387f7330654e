package config

import (
	"errors"
	"net"
	"path/filepath"
	"slices"
	"strings"

	"drawbridge/openapi/text"
)

func (s *Server) validate(c cursor) {
	hasAuth := c.loader.given("auth")
	if !s.Listen.Loopback() && c.ok("listen") {
		if !hasAuth {
			c.errorf("listen", "other machines can reach %q, so callers need tokens: configure auth.issuers, or "+
				"write auth: {anonymous: true} if everybody who can reach it may call", s.Listen)
		}
		if s.Listen.anyHost() && !c.given("public_url") && !c.given("public_urls") && !c.given("allowed_hosts") {
			c.errorf("listen", "%q does not say by which name clients reach the gateway: give server.public_url "+
				"or server.allowed_hosts, because requests with any other Host header are refused", s.Listen)
		}
	}
	if s.Listen.Loopback() && !hasAuth && c.loader.ok("auth") {
		if key := s.exposure(c); key != "" {
			c.errorf(key, "says that others reach the gateway, so callers need tokens: configure auth.issuers, or "+
				"write auth: {anonymous: true} if everybody who can reach it may call")
		}
	}
	s.validateURLs(c)
	c.hosts("allowed_hosts", s.AllowedHosts)
	for i, n := range s.TrustedProxies {
		if at := c.item("trusted_proxies", i); c.ok(at) && n.Prefix().Bits() == 0 {
			c.warnf(at, "trusts every address, so that callers choose the one that they are known by")
		}
	}
	if s.SealKeyFile == "" || s.StateDir == "" || !c.ok("seal_key_file") {
		return
	}
	// The content of the file is checked at the start.
	if inside, err := filepath.Rel(s.StateDir.String(), s.SealKeyFile.String()); err == nil && filepath.IsLocal(inside) {
		c.errorf("seal_key_file", "can't be in server.state_dir: that holds nothing secret, and may be shared and copied")
	}
}

// exposure returns the key that shows that other machines reach a gateway on loopback, through a proxy; "" without such a key.
func (s *Server) exposure(c cursor) string {
	exposed := func(u URL) bool { return !u.Loopback() }
	switch {
	case slices.ContainsFunc(c.config().configuredURLs(), exposed) && c.ok("public_url", "public_urls"):
		if s.PublicURL == nil {
			return "public_urls"
		}
		return "public_url"
	case len(s.TrustedProxies) > 0:
		return "trusted_proxies"
	}
	return ""
}

// validateURLs checks public_url and public_urls.
func (s *Server) validateURLs(c cursor) {
	if s.PublicURL != nil {
		s.validateURL(c, "public_url", s.PublicURL)
	}
	const list = "public_urls"
	if c.given(list) && c.given("public_url") && c.ok(list) {
		c.errorf(list, "can't be combined with public_url: list that URL here as well, the main one first")
	}
	taken := map[string]int{}
	for i := range s.PublicURLs {
		at := c.item(list, i)
		if !c.ok(at) {
			continue
		}
		s.validateURL(c, at, &s.PublicURLs[i])
		for _, host := range hostHeaders(s.PublicURLs[i].String()) {
			if other, ok := taken[host]; ok && other != i {
				c.errorf(at, "has the same host as server.public_urls[%d]: the Host of a request, %q, would not tell them apart", other, host)
				break
			}
			taken[host] = i
		}
	}
}

// validateURL checks one URL by which clients reach the gateway.
func (s *Server) validateURL(c cursor, name string, u *URL) {
	if u.URL().Scheme != "https" && !u.Loopback() && !c.config().hasNoTokens() {
		c.errorf(name, "must be https, because tokens travel to it")
	}
	if u.URL().Scheme == "http" && s.TLS != nil && c.ok("tls") {
		c.warnf(name, "is http, but with server.tls the gateway serves only https")
	}
	if strings.HasSuffix(u.trimmed(), "/mcp") {
		c.warnf(name, "/mcp is added to it: the endpoint is %s", u.trimmed()+"/mcp")
	}
}

func (a *Admin) validate(c cursor) {
	s := c.config().Server.Listen
	if a.Listen.Port() == s.Port() && a.Listen.Port() != "0" && c.ok("listen") && c.loader.ok("server.listen") &&
		(a.Listen.Host() == s.Host() || a.Listen.anyHost() || s.anyHost()) {
		c.errorf("listen", "is the same address as server.listen, %q", s)
	}
	c.hosts("allowed_hosts", a.AllowedHosts)
}

// hosts checks values of Host, and puts them into lower case.
func (c cursor) hosts(list string, hosts []string) {
	for i, host := range hosts {
		c.check(c.item(list, i), checkHost(host))
		hosts[i] = strings.ToLower(host)
	}
}

func checkHost(host string) error {
	if u, err := parseHTTP(host); err == nil {
		return errors.New("must be a host, not a URL" + text.DidYouMean(u.Host))
	}
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		name, port = strings.Trim(host, "[]"), "1"
	}
	a := Address(net.JoinHostPort(name, port))
	if name == "" || a.parse(string(a)) != nil || a.URLHost() != strings.TrimSuffix(host, ":"+port) {
		return errors.New("must be a host or host:port, such as mcp.example.com")
	}
	return nil
}
