package config

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Precedence is the way in which the configuration names a service together with its namespace. A higher one wins the name of an API.
type Precedence int

// The values of [Precedence].
const (
	Unnamed          Precedence = iota
	NamedInServices             // in services of its provider
	NamedCredentials            // in credentials of its provider, so that something is sent to it
)

// NamedService is a service that the configuration names together with its namespace.
type NamedService struct {
	Namespace, Name string
	Precedence      Precedence
	// IsImplied reports that the configuration gives no namespace and that others may have services of that name: the one without a
	// namespace is meant if there is one.
	IsImplied bool
}

// Named returns the services that the provider's configuration names together with their namespaces, whether they are registered or
// not; those in credentials come first.
func (d *Discovery) Named() (all []NamedService) {
	add := func(selectors ServiceSelectors, p Precedence) {
		for _, sel := range selectors {
			for _, name := range sel.Name.literals() {
				for _, namespace := range d.namespaces(sel, name) {
					isImplied := namespace == "" && d.registrations(name).mayOmitNamespace
					all = append(all, NamedService{namespace, name, p, isImplied})
				}
			}
		}
	}
	for i := range d.Credentials {
		add(d.Credentials[i].Match, NamedCredentials)
	}
	add(d.Services, NamedInServices)
	return all
}

// precedence returns how the configuration names a service.
func (d *Discovery) precedence(s *Service) Precedence {
	for _, named := range d.Named() {
		if named.Namespace == s.Namespace && named.Name == s.Name {
			return named.Precedence
		}
	}
	return Unnamed
}

// namespaces returns the namespaces in which a selector names a service: those that it gives without a wildcard, else the only one in
// which the provider can have the service.
func (d *Discovery) namespaces(sel ServiceSelector, name string) []string {
	if len(sel.Namespace) > 0 {
		return sel.Namespace.literals()
	}
	if namespace, ok := d.onlyNamespace(name); ok {
		return []string{namespace}
	}
	return nil
}

// onlyNamespace returns the namespace of services with a name, where a selector gives none: the one that the configuration of the
// provider leaves, else "" where registrations may do without a namespace. ok is false if each registration has one, and several can
// have the name: then the selector is ambiguous.
func (d *Discovery) onlyNamespace(name string) (namespace string, ok bool) {
	if namespaces, all := d.Services.namespaces(); all && len(namespaces) == 1 {
		return namespaces[0], true
	}
	namespaces := d.registrations(name).namespaces
	if len(namespaces) != 1 {
		return "", false
	}
	return namespaces[0], true
}

// namespaces returns the namespaces that the selectors give; all is false unless they select services of no other one.
func (ss ServiceSelectors) namespaces() (namespaces []string, all bool) {
	for _, sel := range ss {
		if len(sel.Namespace) == 0 || len(sel.Namespace.literals()) < len(sel.Namespace) {
			return nil, false
		}
		namespaces = append(namespaces, sel.Namespace.literals()...)
	}
	slices.Sort(namespaces)
	return slices.Compact(namespaces), len(ss) > 0
}

// literals returns the patterns without a wildcard.
func (ps Patterns) literals() (all []string) {
	for _, p := range ps {
		if p.text != "" && !strings.Contains(p.text, "*") {
			all = append(all, p.text)
		}
	}
	return all
}

// sends reports whether something is sent to a service that a selector of credentials matches. A name alone is not enough where
// several namespaces can have it, unless allow_servers binds services to servers and no other service has the name.
func (d *Discovery) sends(sel ServiceSelector, s *Service, isOnlyOne bool) bool {
	return sel.Match(s) &&
		(slices.Contains(d.namespaces(sel, s.Name), s.Namespace) || len(sel.Namespace) == 0 && len(d.AllowServers) > 0 && isOnlyOne)
}

// credentialOf returns the item of credentials for a service; nil if no item matches. isOnlyOne reports that no other service of the
// provider that can be served has its name.
func (d *Discovery) credentialOf(s *Service, isOnlyOne bool) *ServiceCredential {
	for i := range d.Credentials {
		c := &d.Credentials[i]
		if slices.ContainsFunc(c.Match, func(sel ServiceSelector) bool { return d.sends(sel, s, isOnlyOne) }) {
			return c
		}
	}
	return nil
}

// Withheld returns the reason why nothing of credentials is sent to a service although a selector has its name, and the selector that would send it;
// "" if there is no such selector, or something is sent. key is the key path of the provider.
func (d *Discovery) Withheld(key string, s *Service, isOnlyOne bool) string {
	if d.credentialOf(s, isOnlyOne) != nil {
		return ""
	}
	for i := range d.Credentials {
		for _, sel := range d.Credentials[i].Match {
			if !sel.Match(s) {
				continue
			}
			why := "its match names no namespace"
			if len(d.AllowServers) > 0 {
				why += ", and another service has the name"
			}
			return fmt.Sprintf("nothing of %s.credentials[%d] is sent to it, since %s: if this service is meant, write match: %s", key, i, why, s.Selector())
		}
	}
	return ""
}

// Selector returns the selector that names the service and no other one, as a file has it.
func (s *Service) Selector() string {
	if s.Namespace == "" {
		return fmt.Sprintf("{name: %s}", yamlText(s.Name))
	}
	return fmt.Sprintf("{name: %s, namespace: %s}", yamlText(s.Name), yamlText(s.Namespace))
}

// plainText are texts that need no quotes, unless they are words for other values.
var plainText = regexp.MustCompile(`\A[A-Za-z][A-Za-z0-9._-]*\z`)

// yamlText returns a text as a value within a flow mapping.
func yamlText(text string) string {
	if plainText.MatchString(text) && !slices.Contains([]string{"null", "true", "false", "yes", "no", "on", "off", "y", "n"}, strings.ToLower(text)) {
		return text
	}
	return strconv.Quote(text)
}
