package config

import (
	"fmt"
	"strings"
)

// validateGrants checks that the APIs and rules of an included file stay within what is granted to it, and makes its rules match the APIs of
// its entry alone. all is what the files of the entry have together, share the part of this file.
func (l *loader) validateGrants(all *Included, share fileShare, in *Include) {
	for i := range share.apis.count {
		all.APIs[share.apis.first+i].validateGrants(cursor{loader: l, key: fmt.Sprintf("apis[%d]", i)}, in)
	}
	var names []string
	for i := range all.APIs {
		if all.APIs[i].Name != "" {
			names = append(names, all.APIs[i].Name)
		}
	}
	for i := range share.rules.count {
		r := &all.Rules[share.rules.first+i]
		c := cursor{loader: l, key: fmt.Sprintf("rules[%d]", i)}
		if r.Set.Name != "" && !strings.HasPrefix(r.Set.Name, in.NamePrefix) {
			c.errorf("set.name", "%q is not granted to this file: it must begin with %q", r.Set.Name, in.NamePrefix)
		}
		if own := r.Set.Resource; own != nil && !own.URI.IsZero() && !in.grantsURI(own.URI.String()) {
			c.errorf("set.resource.uri", "%q is not granted to this file: it must begin with %q or %q, or reads of another team's resources would come to this one", own.URI, in.NamePrefix, gatewayScheme+in.NamePrefix)
		}
		for j := range r.Match {
			if sel := &r.Match[j]; !sel.empty() && !sel.confine(names) && c.ok("match") && !c.faulty("match") {
				c.errorf(c.item("match", j)+".api", "matches no API of these files: a rule is for the APIs of its own entry of include")
			}
		}
	}
}

// gatewayScheme begins the URIs of resources for which the configuration has none, before the name of the API.
const gatewayScheme = "drawbridge://"

// grantsURI reports whether the files may give a resource a URI: one with a scheme of their own, or of one of their APIs.
func (in *Include) grantsURI(uri string) bool {
	return strings.HasPrefix(strings.TrimPrefix(uri, gatewayScheme), in.NamePrefix)
}

// confine makes a selector match only APIs with the names, and reports whether there is one.
func (sel *Selector) confine(names []string) bool {
	var own Patterns
	for _, name := range names {
		var p Pattern
		if sel.API.allow(name) && p.parse(name) == nil { // a name has no wildcard
			own = append(own, p)
		}
	}
	if len(own) == 0 {
		return false
	}
	sel.API, sel.configured = own, true
	return true
}

// validateGrants checks that an API of an included file stays within what is granted to it.
func (a *API) validateGrants(c cursor, in *Include) {
	switch {
	case !c.ok("name"):
	case a.Name == "":
		c.errorf("name", "is required in an included file: the title of a document must not choose it")
	case !strings.HasPrefix(a.Name, in.NamePrefix):
		c.errorf("name", "%q is not granted to this file: it must begin with %q", a.Name, in.NamePrefix)
	}
	if !a.Spec.IsURL() && c.ok("spec") && isDirectory(a.Spec.String()) {
		c.errorf("spec", "can't be a directory in an included file: each API needs a name of its own; list the documents")
	}
	for key, why := range map[string]string{
		"proxy": "its proxy is that of the main file", "spec_proxy": "its proxy is that of the main file",
		"root":         "it is the folder of its entry of include",
		"pass_headers": "headers of callers may be credentials for services of others",
	} {
		if c.given(key) {
			c.errorf(key, "can't stand in an included file: %s", why)
		}
	}
	if !a.Spec.IsURL() {
		a.Root = in.Folder
	}
	keys, credentials := a.AllCredentials()
	for i, credential := range credentials {
		if credential.Type.NeedsCaller() {
			c.errorf(keys[i]+".type", "can't be %s in an included file: its token_url would get the tokens of callers, which are good for tools of others", credential.Type)
		}
		if at := keys[i] + ".proxy"; c.given(at) {
			c.errorf(at, "can't stand in an included file: its proxy is that of the main file")
		}
	}
	if a.Identity != nil && a.Identity.Audience != "" && !strings.HasPrefix(a.Identity.Audience, in.NamePrefix) {
		c.errorf("identity.audience", "%q is not granted to this file: it must begin with %q, or another service would accept the identity of callers", a.Identity.Audience, in.NamePrefix)
	}
	for i, n := range a.AllowAddresses {
		if !in.allowsNetwork(n) {
			c.errorf(c.item("allow_addresses", i), "%s is not granted to this file: it must be within allow_addresses of its entry of include", n)
		}
	}
	if a.AllowAddresses == nil {
		a.AllowAddresses = in.AllowAddresses
	}
}
