package config

import (
	"fmt"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"drawbridge/openapi/text"
)

// maxProviders is the maximum number of providers.
const maxProviders = 50

// discovery checks the providers of services.
func (l *loader) discovery(cfg *Config) {
	if l.given("discovery") && len(cfg.Discovery) == 0 && l.ok("discovery") {
		l.errorf("discovery", "is empty; leave it out, or give a provider")
	}
	if len(cfg.Discovery) > maxProviders {
		l.errorf("discovery", "has %d items; at most %d are allowed", len(cfg.Discovery), maxProviders)
		return
	}
	for i := range cfg.Discovery {
		d, key := &cfg.Discovery[i], DiscoveryKey(i)
		l.providerName(cfg, key, i)
		l.registry(key, d)
		l.serviceSelectors(key+".services", d.Services)
		l.apiNameTemplate(key+".api_name", d.APIName)
		for j, path := range d.Documents.Paths {
			l.documentPath(fmt.Sprintf("%s.documents.paths[%d]", key, j), path)
		}
		l.serviceDefaults(cfg, key+".api", d)
		for j := range d.Credentials {
			at := fmt.Sprintf("%s.credentials[%d]", key, j)
			l.credentialMatch(at+".match", d, d.Credentials[j].Match)
			l.serviceCredential(cfg, at, &d.Credentials[j])
		}
	}
}

// documentPath checks a path at which documents are looked for.
func (l *loader) documentPath(key, path string) {
	if !strings.HasPrefix(path, "/") || strings.ContainsAny(path, "?#") {
		l.errorf(key, "must be a path that begins with /, without query and fragment, got %s", quote(path))
		return
	}
	for _, found := range placeholders.FindAllString(path, -1) {
		if found != "{name}" {
			l.errorf(key, "%s is not {name}, the only variable of a path", quote(found))
			return
		}
	}
	for segment := range strings.SplitSeq(path, "/") {
		switch text, err := url.PathUnescape(segment); {
		case err != nil:
			l.errorf(key, "must be percent-encoded, got %s", quote(path))
			return
		case text == "." || text == ".." || strings.ContainsAny(text, `/\`):
			l.errorf(key, "must have no dot segments and no encoded slashes, got %s", quote(path))
			return
		}
	}
}

var providerName = regexp.MustCompile(`\A[A-Za-z0-9][A-Za-z0-9_-]{0,19}\z`)

func (l *loader) providerName(cfg *Config, key string, i int) {
	name := cfg.Discovery[i].Name
	if !l.ok(key + ".name") {
		return
	}
	if !providerName.MatchString(name) {
		l.errorf(key+".name", "%s must be a letter or digit, then letters, digits, _ and -, at most 20", quote(name))
	}
	for j := range cfg.Discovery[:i] {
		if strings.EqualFold(cfg.Discovery[j].Name, name) {
			l.errorf(key+".name", "%q is already the name of %s", name, DiscoveryKey(j))
			return
		}
	}
}

// registry checks that a provider has one kind of registry, and its keys.
func (l *loader) registry(key string, d *Discovery) {
	var kinds, keys, given []string
	for _, k := range d.registries() {
		at := key + "." + k.name
		kinds, keys = append(kinds, k.name), append(keys, at)
		if k.registry != nil {
			given = append(given, k.name)
			k.registry.validate(l, at)
		}
	}
	switch {
	case !l.ok(append(keys, key)...):
	case len(given) == 0:
		l.errorf(key, "needs one of %s", strings.Join(kinds, ", "))
	case len(given) > 1:
		l.errorf(key, "has %s; a provider is one of them", strings.Join(given, " and "))
	}
}

func (l *loader) serviceSelectors(key string, selectors ServiceSelectors) {
	if l.given(key) && len(selectors) == 0 && l.ok(key) {
		l.errorf(key, "is empty; leave it out, or select something")
	}
	for i := range selectors {
		if at := selectorKey(l, key, i); selectors[i].empty() && l.ok(at) && !l.faulty(at) {
			l.errorf(at, "needs at least one of name, namespace, tag, labels")
		}
	}
}

var placeholders = regexp.MustCompile(`\{[^{}]*\}?|\}`)

// apiNameTemplate checks api_name: without {provider} in front a service could take the name of a configured API, and
// without {name} all services had one.
func (l *loader) apiNameTemplate(key, template string) {
	if !l.ok(key) {
		return
	}
	for _, found := range placeholders.FindAllString(template, -1) {
		if !slices.Contains([]string{"{provider}", "{namespace}", "{name}"}, found) {
			l.errorf(key, "%s is none of {provider}, {namespace}, {name}", quote(found))
			return
		}
	}
	switch rest := placeholders.ReplaceAllString(template, ""); {
	case !strings.HasPrefix(template, "{provider}"):
		l.errorf(key, "must begin with {provider}, so that no service can take the name of another API")
	case !strings.Contains(template, "{name}"):
		l.errorf(key, "needs {name}: otherwise all services have one name")
	case strings.Trim(rest, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") != "":
		l.errorf(key, "may have letters, digits, _ and - besides {provider}, {namespace} and {name}")
	}
}

// serviceDefaults checks the settings that APIs of services share.
func (l *loader) serviceDefaults(cfg *Config, key string, d *Discovery) {
	api := &d.API.api
	if !l.given(key) {
		l.defaults(reflect.ValueOf(api).Elem())
		api.Spec = placeholderURL
	}
	l.deriveAPI(cfg, key, api)
	l.apiSettings(cfg, key, api)
}

// credentialMatch checks to which services something is sent. Services choose their names when they register, so a selector must name
// the one that is meant: with its namespace where several can have the name, so that what is sent depends on no other registration.
func (l *loader) credentialMatch(key string, d *Discovery, match ServiceSelectors) {
	l.serviceSelectors(key, match)
	for i, sel := range match {
		at := selectorKey(l, key, i)
		if !l.ok(at) || l.faulty(at) || sel.empty() {
			continue
		}
		if len(sel.Name) == 0 {
			l.errorf(at, "needs name: what is sent to services goes only to those that are named")
			continue
		}
		for name, patterns := range map[string]Patterns{"name": sel.Name, "namespace": sel.Namespace} {
			for j, p := range patterns {
				if strings.Contains(p.text, "*") {
					l.errorf(patternKey(l, at+"."+name, j), "%s has a wildcard; what is sent to services goes only to those that are named", quote(p.text))
				}
			}
		}
		for _, name := range sel.Name.literals() {
			if len(sel.Namespace) == 0 && len(d.AllowServers) == 0 && !l.faulty(at) {
				l.needsNamespace(at, d, name)
			}
		}
	}
}

// needsNamespace reports a selector without a namespace if the services of a provider have several.
func (l *loader) needsNamespace(at string, d *Discovery, name string) {
	if _, ok := d.onlyNamespace(name); ok || !l.ok(at) {
		return
	}
	known, example := d.Registry().namespaces(name), "NAMESPACE"
	if len(known) > 0 {
		example = known[0]
	}
	s := Service{Name: name, Namespace: example}
	l.errorf(at, "needs namespace: services of several namespaces can have the name %s, so that a registration in any of them would get what is sent; write match: %s%s",
		quote(name), s.Selector(), otherNamespaces(known))
}

// otherNamespaces names the namespaces besides the first.
func otherNamespaces(known []string) string {
	if len(known) < 2 {
		return ""
	}
	return " (or " + text.List(known[1:], 5) + ")"
}

// serviceCredential checks what is sent to services.
func (l *loader) serviceCredential(cfg *Config, key string, c *ServiceCredential) {
	base := URL{}
	_ = base.parse(placeholderURL) // it is valid
	api := API{Spec: placeholderURL, BaseURL: &base, Credential: c.Credential, Credentials: c.Credentials, SpecCredential: c.SpecCredential,
		PassHeaders: c.PassHeaders, Request: c.Request, Identity: c.Identity, ClientCertificate: c.ClientCertificate}
	if c.Credential == nil && len(c.Credentials) == 0 && c.SpecCredential == nil && len(c.PassHeaders) == 0 && c.Request == nil && c.Identity == nil &&
		c.ClientCertificate == nil && l.ok(key) && !l.faulty(key) {
		l.errorf(key, "sends nothing; it needs at least one of credential, credentials, spec_credential, pass_headers, request, identity, client_certificate")
	}
	for _, one := range []*Credential{c.Credential, c.SpecCredential} {
		if one != nil {
			one.derive()
		}
	}
	for _, one := range c.Credentials {
		one.derive()
	}
	l.credentials(cfg, key, &api)
}
