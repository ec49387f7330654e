package config

import (
	"fmt"
	"strings"
)

func (a *API) validate(c cursor) {
	a.validateName(c)
	a.validateRoot(c)
	a.validateOverlays(c)
	a.validateServers(c)
	a.validateServerCredentials(c)
	a.validateSent(c)
	if a.SpecCredential != nil && !a.Spec.IsURL() && c.ok("spec") {
		c.errorf("spec_credential", "has no use: the document is a file")
	}
	a.validateRecipient(c)
	a.validateScopes(c)
	a.validateProxies(c)
	if c.given("output_schemas") && a.Answers == AnswersText && a.OutputSchemas == OutputLoose && c.ok("answers") {
		c.errorf("output_schemas", "can't be loose with answers: text: a tool with an output schema must answer with structuredContent")
	}
}

// validateName checks that the API has a name of its own, as far as names are given.
func (a *API) validateName(c cursor) {
	if !c.ok("name") {
		return
	}
	for j, other := range before(c.config().APIs, a) {
		switch {
		case a.Name != "" && strings.EqualFold(other.Name, a.Name):
			c.errorf("name", "%q is already the name of %s", a.Name, c.shownKey(fmt.Sprintf("apis[%d]", j)))
			return
		case a.Name == "" && other.Name == "" && a.Spec == other.Spec && a.Spec != "":
			c.loader.errorf(c.specKey(c.key), "%q is listed twice; remove one, or give each a name", a.Spec)
			return
		}
	}
}

// specKey returns the key path of a document, which in a bare list is the list position.
func (l *loader) specKey(api string) string {
	if bare := strings.TrimPrefix(api, "apis"); l.given(bare) {
		return bare
	}
	return api + ".spec"
}

// validateScopes checks what a document's scopes are mapped to.
func (a *API) validateScopes(c cursor) {
	if c.given("scopes_from_document") && a.ScopesFromDocument && c.anonymous() {
		c.warnf("scopes_from_document", "has no effect: without auth.issuers nobody is asked for a token")
	}
	if c.given("scope_map") && !a.ScopesFromDocument && c.ok("scope_map", "scopes_from_document") {
		c.errorf("scope_map", "has no use without scopes_from_document: true")
	}
	for scope, mapped := range a.ScopeMap {
		if at := "scope_map." + scope; len(mapped) == 0 && c.ok(at) {
			c.errorf(at, "is empty; a scope of the document can't stand for none")
		}
	}
}
