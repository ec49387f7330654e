package config

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net"
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
	l.apis(cfg)
	l.rules(cfg)
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
	if u := s.PublicURL; u != nil {
		if u.URL().Scheme != "https" && !u.Loopback() && cfg.Auth != nil && len(cfg.Auth.Issuers) > 0 {
			l.errorf("server.public_url", "must be https, because tokens travel to it")
		}
		if strings.HasSuffix(u.trimmed(), "/mcp") {
			l.warnf("server.public_url", "/mcp is added to it: the endpoint is %s", cfg.Resource())
		}
	}
	for i, host := range s.AllowedHosts {
		key := fmt.Sprintf("server.allowed_hosts[%d]", i)
		if err := checkHost(host); l.ok(key) && err != nil {
			l.errorf(key, "%s", err)
		}
		s.AllowedHosts[i] = strings.ToLower(host)
	}
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
	if !a.Token.IsZero() && l.ok("admin.token") {
		if err := checkToken(a.Token.Reveal()); err != nil {
			l.errorf("admin.token", "%s", err)
		} else if len(a.Token.Reveal()) < 16 {
			l.errorf("admin.token", "must have at least 16 characters")
		}
	}
}

func (l *loader) auth(cfg *Config) {
	a := cfg.Auth
	if a == nil {
		return
	}
	if a.Anonymous {
		for _, key := range []string{"issuers", "default_scopes", "allow_unscoped", "implies"} {
			if l.given("auth." + key) {
				l.errorf("auth."+key, "can't stand beside anonymous: true, which asks nobody for a token")
			}
		}
		return
	}
	if len(a.Issuers) == 0 && l.ok("auth.issuers", "auth.anonymous") {
		l.errorf("auth", "needs issuers, or anonymous: true")
	}
	if len(a.Issuers) > 0 && cfg.Resource() == "" && l.ok("server", "server.public_url", "server.listen") {
		l.errorf("auth.issuers", "need server.public_url: tokens are issued for that URL followed by /mcp, and %q does "+
			"not tell it", cfg.Server.Listen)
	}
	if len(a.Issuers) > 0 && len(a.DefaultScopes) == 0 && !a.AllowUnscoped &&
		l.ok("auth.default_scopes", "auth.allow_unscoped") {
		l.errorf("auth.default_scopes", "is required with issuers: operations without a rule of their own need its "+
			"scopes; write allow_unscoped: true if any valid token may call them")
	}
	l.scopes("auth.default_scopes", a.DefaultScopes)
	for scope, granted := range a.Implies {
		key := "auth.implies." + scope
		if !scopeToken(scope) && l.ok(key) {
			l.errorf(key, "%s", errScope)
		}
		l.scopes(key, granted)
	}
	for i := range a.Issuers {
		l.issuer(fmt.Sprintf("auth.issuers[%d]", i), &a.Issuers[i], a.Issuers[:i])
	}
}

func (l *loader) issuer(key string, is *Issuer, earlier []Issuer) {
	if u := is.Issuer; u.URL() != nil && l.ok(key+".issuer") {
		switch {
		case u.URL().Scheme != "https" && !u.Loopback():
			l.errorf(key+".issuer", "must be https: keys that anybody on the way could change prove nothing")
		case slices.ContainsFunc(earlier, func(other Issuer) bool { return other.Issuer.String() == u.String() }):
			l.errorf(key+".issuer", "is listed twice")
		}
	}
	if l.given(key+".audiences") && len(is.Audiences) == 0 && l.ok(key+".audiences") {
		l.errorf(key+".audiences", "is empty; a token for nobody in particular is never accepted")
	}
	if len(is.Algorithms) == 0 && l.ok(key, key+".algorithms") {
		l.errorf(key+".algorithms", "is empty")
	}
}

var errScope = errors.New("is not a scope: spaces, quotes, backslashes and non-ASCII characters can't stand in one")

func (l *loader) scopes(key string, scopes []string) {
	for i, s := range scopes {
		k := fmt.Sprintf("%s[%d]", key, i)
		switch {
		case !l.ok(k):
		case !scopeToken(s):
			l.errorf(k, "%s", errScope)
		case slices.Contains(scopes[:i], s):
			l.errorf(k, "%q is listed twice", s)
		}
	}
}

// scopeToken reports whether s is a scope-token (RFC 6749, 3.3).
func scopeToken(s string) bool {
	for _, c := range []byte(s) {
		if c <= ' ' || c >= 0x7f || c == '"' || c == '\\' {
			return false
		}
	}
	return s != ""
}

func (l *loader) apis(cfg *Config) {
	if len(cfg.APIs) == 0 && l.ok("apis") {
		l.errorf("apis", "is empty; it needs at least one OpenAPI document")
	}
	for i := range cfg.APIs {
		api, key := &cfg.APIs[i], fmt.Sprintf("apis[%d]", i)
		l.name(key, api, cfg.APIs[:i])
		if api.Credential != nil {
			l.credential(key+".credential", api.Credential)
		}
		if api.CAFile != "" && l.ok(key+".ca_file") {
			l.files = append(l.files, string(api.CAFile))
			if err := checkCertificates(string(api.CAFile)); err != nil {
				l.errorf(key+".ca_file", "%s", err)
			}
		}
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

func checkCertificates(path string) error {
	data, _, err := readRegular(path)
	if err != nil {
		return fmt.Errorf("%q can't be read: %w", path, err)
	}
	if !x509.NewCertPool().AppendCertsFromPEM(data) {
		return fmt.Errorf("%q holds no PEM certificate", path)
	}
	return nil
}

func (l *loader) credential(key string, c *Credential) {
	if !l.ok(key, key+".type") {
		return
	}
	needs := map[CredentialType][]string{
		CredentialBearer: {"token"},
		CredentialBasic:  {"username", "password"},
		CredentialAPIKey: {"in", "name", "value"},
	}
	for _, name := range []string{"token", "username", "password", "in", "name", "value"} {
		k, wanted := key+"."+name, slices.Contains(needs[c.Type], name)
		switch {
		case wanted && !l.given(k):
			l.errorf(k, "is required for type %s", c.Type)
		case !wanted && l.given(k):
			l.errorf(k, "can't stand with type %s, which takes %s", c.Type, strings.Join(needs[c.Type], ", "))
		}
	}
	check := func(name string, err error) {
		if err != nil && l.ok(key+"."+name) && l.given(key+"."+name) {
			l.errorf(key+"."+name, "%s", err)
		}
	}
	check("token", checkToken(c.Token.Reveal()))
	if strings.Contains(c.Username, ":") {
		check("username", errors.New("can't hold a colon"))
	}
	check("password", checkText(c.Password.Reveal()))
	switch c.In {
	case KeyInHeader:
		check("name", checkHeader(c.Name))
		check("value", checkText(c.Value.Reveal()))
	case KeyInCookie:
		if !headerToken(c.Name) {
			check("name", errors.New("is not a cookie name"))
		}
		if strings.ContainsFunc(c.Value.Reveal(), func(r rune) bool {
			return r <= ' ' || r >= 0x7f || strings.ContainsRune(`",;\`, r)
		}) {
			check("value", errors.New("holds a character that can't stand in a cookie"))
		}
	}
}

// checkToken refuses what can't be a bearer token in an Authorization header.
func checkToken(token string) error {
	if strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return errors.New("holds a space, a line break or another character that can't stand in a token")
	}
	return nil
}

// checkText refuses what can't stand in a header's value.
func checkText(s string) error {
	if strings.ContainsFunc(s, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
		return errors.New("holds a line break or another control character")
	}
	return nil
}

// checkHeader refuses header names that are not an API key's to set.
func checkHeader(name string) error {
	switch {
	case !headerToken(name):
		return errors.New("is not a header name")
	case slices.Contains([]string{
		"host", "content-length", "content-type", "content-encoding", "accept", "accept-encoding", "transfer-encoding",
		"te", "trailer", "upgrade", "connection", "keep-alive", "expect", "cookie", "proxy-connection",
	}, strings.ToLower(name)):
		return errors.New("the gateway sets this header itself")
	}
	return nil
}

// headerToken reports whether s is a token (RFC 9110, 5.6.2).
func headerToken(s string) bool {
	for _, c := range []byte(s) {
		if !alphanumeric(c) && !strings.ContainsRune("!#$%&'*+-.^_`|~", rune(c)) {
			return false
		}
	}
	return s != ""
}

var (
	toolName = regexp.MustCompile(`\A[A-Za-z0-9_-]+\z`)
	methods  = regexp.MustCompile(`\A[A-Z*]+\z`)
)

func (l *loader) rules(cfg *Config) {
	for i := range cfg.Rules {
		r, key := &cfg.Rules[i], fmt.Sprintf("rules[%d]", i)
		match, set := key+".match", key+".set"
		if l.given(match) && len(r.Match) == 0 && l.ok(match) {
			l.errorf(match, "is empty; select something")
		}
		l.selectors(match, r.Match)
		l.strangers(cfg, match, r.Match)
		l.settings(cfg, set, &r.Set)
	}
}

func (l *loader) settings(cfg *Config, key string, set *Settings) {
	if l.given(key) && l.ok(key) && !l.faulty(key) && set.empty() {
		l.errorf(key, "is empty; the rule changes nothing")
	}
	if name := key + ".name"; set.Name != "" && l.ok(name) {
		if !toolName.MatchString(set.Name) {
			l.errorf(name, "%s must consist of letters, digits, _ and -", quote(set.Name))
		} else if len(set.Name) > cfg.Tools.MaxName && l.ok("tools.max_name") {
			l.errorf(name, "is longer than tools.max_name, %d", cfg.Tools.MaxName)
		}
	}
	l.most(key+".title", set.Title, 200)
	l.most(key+".description", set.Description, 4096)
	l.scopes(key+".scopes", set.Scopes)
	if scopes := key + ".scopes"; l.given(scopes) && l.ok(scopes) && l.ok("auth") {
		switch {
		case cfg.Auth == nil || cfg.Auth.Anonymous:
			l.warnf(scopes, "has no effect: without auth.issuers nobody is asked for a token")
		case len(set.Scopes) == 0 && !cfg.Auth.AllowUnscoped:
			l.errorf(scopes, "is empty, which auth.allow_unscoped must allow")
		}
	}
}

func (l *loader) most(key, text string, bytes int) {
	if len(text) > bytes {
		l.errorf(key, "has %d bytes, more than %d", len(text), bytes)
	}
}

// selectorKey returns the key path of a selector, which may stand alone instead of in a list.
func selectorKey(l *loader, list string, i int) string {
	if k := fmt.Sprintf("%s[%d]", list, i); l.given(k) {
		return k
	}
	return list
}

func (l *loader) selectors(list string, selectors Selectors) {
	for i := range selectors {
		sel, key := &selectors[i], selectorKey(l, list, i)
		if sel.empty() && l.ok(key) && !l.faulty(key) {
			l.errorf(key, "needs at least one of api, tag, method, path, operation")
		}
		for j, p := range sel.Method {
			sel.Method[j] = p.upper()
			if k := patternKey(l, key+".method", j); p.text != "" && !methods.MatchString(sel.Method[j].text) {
				l.errorf(k, "%s is not an HTTP method", quote(p.text))
			} else if near := nearest(sel.Method[j].text, knownMethods()); near != "" && near != sel.Method[j].text &&
				!strings.Contains(p.text, "*") {
				l.errorf(k, "%s is not an HTTP method%s", quote(p.text), didYouMean(near))
			}
		}
		for j, p := range sel.Path {
			if k := patternKey(l, key+".path", j); p.text != "" && p.text[0] != '/' && p.text[0] != '*' {
				l.errorf(k, "must begin with / or *; did you mean %q?", "/"+p.text)
			}
		}
	}
}

// knownMethods returns the methods that OpenAPI has fields for.
func knownMethods() []string {
	return []string{"GET", "PUT", "POST", "DELETE", "OPTIONS", "HEAD", "PATCH", "TRACE", "QUERY"}
}

func patternKey(l *loader, list string, i int) string {
	if k := fmt.Sprintf("%s[%d]", list, i); l.given(k) {
		return k
	}
	return list
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

// strangers warns of API names in selectors that match no API, as far as all names are known.
func (l *loader) strangers(cfg *Config, list string, selectors Selectors) {
	var names []string
	for _, api := range cfg.APIs {
		if api.Name == "" {
			return
		}
		names = append(names, api.Name)
	}
	for i, sel := range selectors {
		for j, p := range sel.API {
			if !slices.ContainsFunc(names, func(n string) bool { return Patterns{p}.allow(n) }) && p.text != "" {
				l.warnf(patternKey(l, selectorKey(l, list, i)+".api", j), "no API is named %s%s", quote(p.text),
					didYouMean(nearest(p.text, names)))
			}
		}
	}
}
