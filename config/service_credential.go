package config

import (
	"reflect"
	"strings"

	"drawbridge/openapi/text"
)

// ServiceCredential is what is sent to the services that it matches, as in an item of apis.
type ServiceCredential struct {
	// The services. A selector names its services: name is required, and so is namespace if services of several namespaces can have the
	// name; neither has a wildcard. Without namespace, a selector of file, http or docker means services without a namespace; with
	// allow_servers it means the only service with the name.
	Match ServiceSelectors `yaml:"match" required:"true" empty:"leave it out, or select something" access:"joint: identity"`
	// As credential of an item of apis.
	Credential *Credential `yaml:"credential,omitempty" absent:"no credential is sent" access:"joint: identity"`
	// As credentials of an item of apis.
	Credentials map[string]*Credential `yaml:"credentials,omitempty" absent:"none" access:"joint: identity" empty:"leave it out, or name a security scheme"`
	// As spec_credential of an item of apis. It is sent to the service alone, not to another server that has its document.
	SpecCredential *Credential `yaml:"spec_credential,omitempty" absent:"credential" access:"none: it is sent to the document's origin only"`
	// As pass_headers of an item of apis.
	PassHeaders []PassedHeader `yaml:"pass_headers,omitempty" absent:"none" access:"joint: passed headers"`
	// As request of an item of apis.
	Request *APIRequest `yaml:"request,omitempty" absent:"none" access:"joint: identity" empty:"leave it out"`
	// As identity of an item of apis.
	Identity *APIIdentity `yaml:"identity,omitempty" absent:"no identity is sent" access:"joint: identity"`
	// As client_certificate of an item of apis.
	ClientCertificate *ClientCertificate `yaml:"client_certificate,omitempty" absent:"none" access:"joint: identity"`
}

// apply gives an API what is sent to its service.
func (c *ServiceCredential) apply(api *API) {
	api.Credential, api.Credentials, api.SpecCredential = c.Credential, c.Credentials, c.SpecCredential
	api.PassHeaders, api.Request, api.Identity, api.ClientCertificate = c.PassHeaders, c.Request, c.Identity, c.ClientCertificate
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
	known, example := d.Registry().namespaces(name), "NAMESPACE"
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
