package config

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
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

var placeholders = regexp.MustCompile(`\{[^{}]*\}?|\}`)

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
