package config

import (
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"

	"drawbridge/openapi/text"
)

// validate checks what a single scalar can't show: how values depend on each other and on their place. It skips what
// the reader has already found wrong.
func (l *loader) validate(cfg *Config) {
	l.server(cfg)
	l.admin(cfg)
	l.auth(cfg)
	l.principalRates(cfg)
	l.identity(cfg)
	l.apis(cfg)
	l.discovery(cfg)
	l.tools(cfg)
	l.search(cfg)
	l.rules(cfg)
	l.endpoints(cfg)
	l.prompts(cfg)
	l.state(cfg)
	l.outgoing(cfg)
	l.audit(cfg)
}

func (l *loader) server(cfg *Config) {
	s := &cfg.Server
	if !s.Listen.Loopback() && l.ok("server", "server.listen") {
		if !l.given("auth") {
			l.errorf("server.listen", "other machines can reach %q, so callers need tokens: configure auth.issuers, or "+
				"write auth: {anonymous: true} if everybody who can reach it may call", s.Listen)
		}
		if s.Listen.anyHost() && !l.given("server.public_url") && !l.given("server.public_urls") && !l.given("server.allowed_hosts") {
			l.errorf("server.listen", "%q does not say by which name clients reach the gateway: give server.public_url "+
				"or server.allowed_hosts, because requests with any other Host header are refused", s.Listen)
		}
	}
	if s.Listen.Loopback() && !l.given("auth") && l.ok("auth") {
		if key := l.keyOfExposure(cfg); key != "" {
			l.errorf(key, "says that others reach the gateway, so callers need tokens: configure auth.issuers, or "+
				"write auth: {anonymous: true} if everybody who can reach it may call")
		}
	}
	l.info("server.info", s.Info)
	l.publicURLs(cfg)
	l.hosts("server.allowed_hosts", s.AllowedHosts)
	if s.TLS != nil {
		l.tls(cfg)
	}
	l.proxies("server.trusted_proxies", s.TrustedProxies)
	for i, k := range s.SealKeys {
		key := fmt.Sprintf("server.seal_keys[%d]", i)
		same := func(other Secret) bool { return other.Reveal() == k.Reveal() }
		switch {
		case !l.ok(key):
		case len(k.Reveal()) < 32:
			l.errorf(key, "must have at least 32 characters; openssl rand -base64 32 makes a good one")
		case slices.ContainsFunc(s.SealKeys[:i], same):
			l.errorf(key, "is the same as an earlier key")
		}
	}
	l.sealKeyFile(s)
}

// sealKeyFile checks where the key is kept that the gateway makes. The content of the file is checked at the start.
func (l *loader) sealKeyFile(s *Server) {
	const key = "server.seal_key_file"
	if s.SealKeyFile == "" || !l.ok(key) {
		return
	}
	if l.given("server.seal_keys") {
		l.errorf(key, "can't stand beside seal_keys: a key is either in the configuration or made by the gateway")
	}
	if s.StateDir == "" {
		return
	}
	inside, err := filepath.Rel(s.StateDir.String(), s.SealKeyFile.String())
	if err == nil && filepath.IsLocal(inside) {
		l.errorf(key, "can't be in server.state_dir: that holds nothing secret, and may be shared and copied")
	}
}

// keyOfExposure returns the key that says of a gateway on loopback that other machines reach it, by way of a proxy; "" if none does.
func (l *loader) keyOfExposure(cfg *Config) string {
	exposed := func(u URL) bool { return !u.Loopback() }
	switch {
	case slices.ContainsFunc(cfg.configuredURLs(), exposed) && l.ok("server.public_url", "server.public_urls"):
		if cfg.Server.PublicURL == nil {
			return "server.public_urls"
		}
		return "server.public_url"
	case len(cfg.Server.TrustedProxies) > 0:
		return "server.trusted_proxies"
	}
	return ""
}

// hosts checks values of Host, and puts them into lower case.
func (l *loader) hosts(key string, hosts []string) {
	for i, host := range hosts {
		k := fmt.Sprintf("%s[%d]", key, i)
		if err := checkHost(host); l.ok(k) && err != nil {
			l.errorf(k, "%s", err)
		}
		hosts[i] = strings.ToLower(host)
	}
}

// proxies checks the networks whose word about the caller's address is taken.
func (l *loader) proxies(key string, networks []Network) {
	for i, n := range networks {
		k := fmt.Sprintf("%s[%d]", key, i)
		switch {
		case !l.ok(k):
		case slices.Contains(networks[:i], n):
			l.errorf(k, "%s is listed twice", n)
		case n.Prefix().Bits() == 0:
			l.warnf(k, "trusts every address, so that callers choose the one that they are known by")
		}
	}
}

func checkHost(host string) error {
	if u, err := parseHTTP(host); err == nil {
		return fmt.Errorf("must be a host, not a URL%s", text.DidYouMean(u.Host))
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

func (l *loader) admin(cfg *Config) {
	a := &cfg.Admin
	if a.Listen.Port() == cfg.Server.Listen.Port() && a.Listen.Port() != "0" && l.ok("server.listen", "admin.listen") {
		if s := cfg.Server.Listen; a.Listen.Host() == s.Host() || a.Listen.anyHost() || s.anyHost() {
			l.errorf("admin.listen", "is the same address as server.listen, %q", cfg.Server.Listen)
		}
	}
	l.hosts("admin.allowed_hosts", a.AllowedHosts)
	if !a.Token.IsZero() && l.ok("admin.token") {
		l.operatorToken("admin.token", a.Token)
	}
	l.console(a)
}

// operatorToken validates a token of operators.
func (l *loader) operatorToken(key string, token Secret) {
	if err := checkToken(token.Reveal()); err != nil {
		l.errorf(key, "%s", err)
	} else if len(token.Reveal()) < 16 {
		l.errorf(key, "must have at least 16 characters")
	}
}
