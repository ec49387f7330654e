package config

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"drawbridge/openapi/text"
)

var providerName = regexp.MustCompile(`\A[A-Za-z0-9][A-Za-z0-9_-]{0,19}\z`)

func (d *Discovery) validate(c cursor) {
	if c.ok("name") {
		if !providerName.MatchString(d.Name) {
			c.errorf("name", "%s must be a letter or digit, then letters, digits, _ and -, at most 20", quote(d.Name))
		}
		same := func(other Discovery) bool { return strings.EqualFold(other.Name, d.Name) }
		if first := slices.IndexFunc(before(c.config().Discovery, d), same); first >= 0 {
			c.errorf("name", "%q is already the name of %s", d.Name, DiscoveryKey(first))
		}
	}
	c.check("api_name", checkNameTemplate(d.APIName))
	var kinds, given []string
	for _, k := range d.registries() {
		if kinds = append(kinds, k.name); k.registry != nil {
			given = append(given, k.name)
		}
	}
	switch {
	case !c.ok("") || !c.ok(kinds...):
	case len(given) == 0:
		c.errorf("", "needs one of %s", strings.Join(kinds, ", "))
	case len(given) > 1:
		c.errorf("", "has %s; a provider is one of them", strings.Join(given, " and "))
	}
	d.validateProxies(c)
}

// The settings that APIs of services share obey the rules of an API.
func (d *APIDefaults) validate(c cursor) { c.walkStruct(reflect.ValueOf(&d.api).Elem()) }

func (sel *ServiceSelector) validate(c cursor) {
	if sel.empty() && c.ok("") && !c.faulty("") {
		c.errorf("", "needs at least one of name, namespace, tag, labels")
	}
}

// checkNameTemplate checks api_name: without {provider} in front a service could take the name of a configured API, and
// without {name} all services had one.
func checkNameTemplate(template string) error {
	for _, found := range placeholders.FindAllString(template, -1) {
		if !slices.Contains([]string{"{provider}", "{namespace}", "{name}"}, found) {
			return fmt.Errorf("%s is none of {provider}, {namespace}, {name}", quote(found))
		}
	}
	switch rest := placeholders.ReplaceAllString(template, ""); {
	case !strings.HasPrefix(template, "{provider}"):
		return errors.New("must begin with {provider}, so that no service can take the name of another API")
	case !strings.Contains(template, "{name}"):
		return errors.New("needs {name}: otherwise all services have one name")
	case strings.Trim(rest, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") != "":
		return errors.New("may have letters, digits, _ and - besides {provider}, {namespace} and {name}")
	}
	return nil
}

func (sc *ServiceCredential) validate(c cursor) {
	sc.validateMatch(c)
	base := URL{}
	_ = base.parse(placeholderURL) // it is valid
	api := API{Spec: placeholderURL, BaseURL: &base}
	sc.apply(&api)
	if reflect.DeepEqual(api, API{Spec: placeholderURL, BaseURL: &base}) && c.ok("") && !c.faulty("") {
		c.errorf("", "sends nothing; it needs at least one of credential, credentials, spec_credential, pass_headers, request, identity, client_certificate")
	}
	api.validateSent(c)
}

// validateMatch checks to which services something is sent. Services choose their names when they register, so a selector must name
// the one that is meant: with its namespace where several can have the name, so that what is sent depends on no other registration.
func (sc *ServiceCredential) validateMatch(c cursor) {
	d := enclosing[Discovery](c)
	for i, sel := range sc.Match {
		at := c.item("match", i)
		if !c.ok(at) || c.faulty(at) || sel.empty() {
			continue
		}
		if len(sel.Name) == 0 {
			c.errorf(at, "needs name: what is sent to services goes only to those that are named")
			continue
		}
		for name, patterns := range map[string]Patterns{"name": sel.Name, "namespace": sel.Namespace} {
			for j, p := range patterns {
				if strings.Contains(p.text, "*") {
					c.errorf(c.item(join(at, name), j), "%s has a wildcard; what is sent to services goes only to those that are named", quote(p.text))
				}
			}
		}
		for _, name := range sel.Name.literals() {
			if len(sel.Namespace) == 0 && len(d.AllowServers) == 0 && !c.faulty(at) {
				d.needsNamespace(c, at, name)
			}
		}
	}
}

// needsNamespace reports a selector without a namespace if the services of a provider have several.
func (d *Discovery) needsNamespace(c cursor, at, name string) {
	if _, ok := d.onlyNamespace(name); ok || !c.ok(at) {
		return
	}
	known, example := d.registrations(name).namespaces, "NAMESPACE"
	if len(known) > 0 {
		example = known[0]
	}
	s := Service{Name: name, Namespace: example}
	c.errorf(at, "needs namespace: services of several namespaces can have the name %s, so that a registration in any of them would get what is sent; write match: %s%s",
		quote(name), s.Selector(), otherNamespaces(known))
}

// otherNamespaces names the namespaces besides the first.
func otherNamespaces(known []string) string {
	if len(known) < 2 {
		return ""
	}
	return " (or " + text.List(known[1:], 5) + ")"
}
