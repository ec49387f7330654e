package config

import (
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
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
	l.tools(cfg)
	l.rules(cfg)
	l.endpoints(cfg)
	l.prompts(cfg)
	l.state(cfg)
	l.audit(cfg)
}

func (l *loader) server(cfg *Config) {
	s := &cfg.Server
	if !s.Listen.Loopback() && l.ok("server", "server.listen") {
		if !l.given("auth") {
			l.errorf("server.listen", "other machines can reach %q, so callers need tokens: configure auth.issuers, or "+
				"write auth: {anonymous: true} if everybody who can reach it may call", s.Listen)
		}
		if s.Listen.anyHost() && !l.given("server.public_url") && !l.given("server.allowed_hosts") {
			l.errorf("server.listen", "%q does not say by which name clients reach the gateway: give server.public_url "+
				"or server.allowed_hosts, because requests with any other Host header are refused", s.Listen)
		}
	}
	if s.Listen.Loopback() && !l.given("auth") && l.ok("auth") {
		if key := l.reached(s); key != "" {
			l.errorf(key, "says that others reach the gateway, so callers need tokens: configure auth.issuers, or "+
				"write auth: {anonymous: true} if everybody who can reach it may call")
		}
	}
	if u := s.PublicURL; u != nil {
		if u.URL().Scheme != "https" && !u.Loopback() && cfg.Auth != nil && len(cfg.Auth.Issuers) > 0 {
			l.errorf("server.public_url", "must be https, because tokens travel to it")
		}
		if u.URL().Scheme == "http" && s.TLS != nil && l.ok("server.tls") {
			l.warnf("server.public_url", "is http, but with server.tls the gateway speaks https alone")
		}
		if strings.HasSuffix(u.trimmed(), "/mcp") {
			l.warnf("server.public_url", "/mcp is added to it: the endpoint is %s", cfg.Resource())
		}
	}
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

// sealKeyFile checks where the key is kept that the gateway makes. What the file holds is looked at when it starts.
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

// reached returns the key that says of a gateway on loopback that other machines reach it, by way of a proxy; "" if none does.
func (l *loader) reached(s *Server) string {
	switch {
	case s.PublicURL != nil && !s.PublicURL.Loopback() && l.ok("server.public_url"):
		return "server.public_url"
	case len(s.TrustedProxies) > 0:
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
		return fmt.Errorf("must be a host, not a URL; did you mean %q?", u.Host)
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
		if err := checkToken(a.Token.Reveal()); err != nil {
			l.errorf("admin.token", "%s", err)
		} else if len(a.Token.Reveal()) < 16 {
			l.errorf("admin.token", "must have at least 16 characters")
		}
	}
}

func (l *loader) apis(cfg *Config) {
	if len(cfg.APIs) == 0 && l.ok("apis") {
		l.errorf("apis", "is empty; it needs at least one OpenAPI document")
	}
	for i := range cfg.APIs {
		api, key := &cfg.APIs[i], fmt.Sprintf("apis[%d]", i)
		l.name(key, api, cfg.APIs[:i])
		l.rootDirectory(key, api)
		l.credentials(cfg, key, api)
		l.slashes(key+".slash_parameters", api.SlashParameters)
		l.dropArguments(key+".drop_arguments", api.DropArguments)
		l.documentScopes(cfg, key, api)
		if l.given(key+".output_schemas") && api.Answers == AnswersText && api.OutputSchemas == OutputLoose && l.ok(key+".answers") {
			l.errorf(key+".output_schemas", "can't be loose with answers: text: a tool with an output schema must answer with structuredContent")
		}
		l.links(key+".links", api.Links)
		l.authority(key+".ca_file", api.CAFile)
		for name, list := range map[string]Selectors{"include": api.Tools.Include, "exclude": api.Tools.Exclude} {
			k := key + ".tools." + name
			if l.given(k) && len(list) == 0 && l.ok(k) {
				l.errorf(k, "is empty; leave it out, or select something")
			}
			l.selectors(k, list)
			for j, sel := range list {
				if len(sel.API) > 0 {
					at := selectorKey(l, k, j) + ".api"
					l.errorf(at, "can't stand here: the selector is for this API alone")
				}
			}
		}
	}
}

var apiName = regexp.MustCompile(`\A[A-Za-z0-9][A-Za-z0-9_-]{0,39}\z`)

func (l *loader) name(key string, api *API, earlier []API) {
	for j, other := range earlier {
		switch {
		case api.Name != "" && strings.EqualFold(other.Name, api.Name):
			l.errorf(key+".name", "%q is already the name of apis[%d]", api.Name, j)
			return
		case api.Name == "" && other.Name == "" && api.Spec == other.Spec && api.Spec != "":
			l.errorf(l.specKey(key), "%q is listed twice; remove one, or give each a name", api.Spec)
			return
		}
	}
	if api.Name != "" && !apiName.MatchString(api.Name) && l.ok(key+".name") {
		l.errorf(key+".name", "%s must be a letter or digit, then letters, digits, _ and -, at most 40", quote(api.Name))
	}
}

// specKey returns the key path of a document, which in a bare list is the list position.
func (l *loader) specKey(api string) string {
	if bare := strings.TrimPrefix(api, "apis"); l.given(bare) {
		return bare
	}
	return api + ".spec"
}

// authority checks a file of certificates, and has it watched.
func (l *loader) authority(key string, file File) {
	if file == "" || !l.ok(key) {
		return
	}
	l.files = append(l.files, string(file))
	if _, _, _, err := authorities(file); err != nil {
		l.errorf(key, "%q %s", file, err)
	}
}
