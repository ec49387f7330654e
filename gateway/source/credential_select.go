package source

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"drawbridge/auth/credential"
	"drawbridge/config"
	"drawbridge/gateway/admin"
	"drawbridge/openapi"
	"drawbridge/openapi/nearest"
)

// Problem codes for disagreements between the configuration and a document about credentials. They complement the codes
// of the document's own problems.
const (
	codeCredentialMissing = "credential-missing" // an operation requires a scheme without a credential, and the API has others
	codeCredentialUnused  = "credential-unused"  // a credential is configured for a scheme that the document does not declare
)

// Credentials holds the credential of each operation of a document, selected at load. It is immutable.
type Credentials struct {
	// Choices holds the credentials of operations that don't use the default one.
	Choices map[*openapi.Operation]*credential.Choice
	// Problems lists disagreements between the configuration and the document.
	Problems []admin.Problem
	// Missing holds the index into Problems of the credential that an operation lacks.
	Missing map[*openapi.Operation]int
	// Note is a fact about all operations; "" if there is none.
	Note string
}

// selectCredentials selects the credential of each operation of a document.
func selectCredentials(api *openapi.API, conf *config.API, auth *upstreamAuth) *Credentials {
	c := &Credentials{Choices: map[*openapi.Operation]*credential.Choice{}, Missing: map[*openapi.Operation]int{}}
	certified := auth.certified(api)
	if auth.set == nil {
		if !conf.PassesCredential() { // with pass-through each caller has a credential
			c.Note = noCredential(api, certified)
		}
		return c
	}
	c.reportUnused(conf, api)
	indexes := map[string]int{}
	for _, op := range api.Operations {
		choice, err := auth.set.Choose(alternatives(op, certified))
		var missing *credential.MissingError
		switch {
		case errors.As(err, &missing) && conf.PassesCredential(): // with pass-through each caller has a credential
		case errors.As(err, &missing):
			text := lackOf(missing)
			at, known := indexes[text]
			if !known {
				at = len(c.Problems)
				indexes[text] = at
				c.Problems = append(c.Problems, admin.Problem{Code: codeCredentialMissing, Message: text})
			}
			c.Missing[op] = at
		case err == nil && len(choice.Schemes()) > 0:
			c.Choices[op] = choice
		}
	}
	return c
}

// certified returns the security schemes that the client certificate satisfies. It is empty without one.
func (a *upstreamAuth) certified(api *openapi.API) map[string]bool {
	names := map[string]bool{}
	if a.tls != nil {
		for _, scheme := range api.Schemes {
			names[scheme.Name] = names[scheme.Name] || scheme.Type == "mutualTLS"
		}
	}
	return names
}

// alternatives returns the scheme names of each security alternative of an operation, without those in certified.
func alternatives(op *openapi.Operation, certified map[string]bool) [][]string {
	all := make([][]string, 0, len(op.Security))
	for _, requirement := range op.Security {
		names := make([]string, 0, len(requirement))
		for _, use := range requirement {
			if !certified[use.Scheme] {
				names = append(names, use.Scheme)
			}
		}
		all = append(all, names)
	}
	return all
}

// reportUnused reports credentials for schemes that are not in the document, such as misspelt or renamed ones.
func (c *Credentials) reportUnused(conf *config.API, api *openapi.API) {
	var declared []string
	for _, scheme := range api.Schemes {
		declared = append(declared, scheme.Name)
	}
	for _, op := range api.Operations {
		for _, names := range alternatives(op, nil) { // some schemes are used without being declared, which is a problem of its own
			declared = append(declared, names...)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(conf.Credentials)) {
		if slices.Contains(declared, name) {
			continue
		}
		text := fmt.Sprintf("credentials.%s: the document has no security scheme of that name, so the credential is not used", name)
		if near := nearest.Name(name, declared); near != "" {
			text += fmt.Sprintf("; did you mean %q?", near)
		}
		c.Problems = append(c.Problems, admin.Problem{Code: codeCredentialUnused, Message: text})
	}
}

// lackOf describes the configuration that an operation lacks.
func lackOf(e *credential.MissingError) string {
	text := "no credential is configured for the security scheme " + e.SchemeList()
	if len(e.Schemes) == 0 {
		text = "two credentials of one alternative stand in the same place, the " + e.Conflict
	}
	return text + ": calls are sent without one"
}

// noCredential describes the schemes that operations require while nothing is configured; "" if every operation can be
// called without.
func noCredential(api *openapi.API, certified map[string]bool) string {
	var all []string
	for _, op := range api.Operations {
		asked := alternatives(op, certified)
		if slices.ContainsFunc(asked, func(names []string) bool { return len(names) == 0 }) {
			continue // it can be called without
		}
		for _, names := range asked {
			text := strings.Join(names, " and ")
			if len(names) > 1 {
				text = "(" + text + ")"
			}
			if !slices.Contains(all, text) {
				all = append(all, text)
			}
		}
	}
	if len(all) == 0 {
		return ""
	}
	return "the document asks for " + strings.Join(all, " or ") + " and no credential is configured"
}
