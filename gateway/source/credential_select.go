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
	"drawbridge/openapi/origin"
	"drawbridge/openapi/text"
)

// Problem codes for disagreements between the configuration and a document about credentials. They complement the codes
// of the document's own problems.
const (
	codeCredentialMissing = "credential-missing" // an operation requires a scheme without a credential, and the API has others
	codeCredentialUnused  = "credential-unused"  // a credential is configured for a scheme that the document does not declare
)

// lacksCredential is the reason why calls lack a credential although others are configured; the problems of the
// operations name the schemes.
const lacksCredential = "no credential is configured for the security schemes that the document requires (" + codeCredentialMissing + ")"

// Credentials holds the credential of each operation of a document, selected at load. It is immutable.
type Credentials struct {
	// Choices holds the credentials of operations that don't use the default one.
	Choices map[*openapi.Operation]*credential.Choice
	// Problems lists disagreements between the configuration and the document.
	Problems []admin.Problem
	// Missing holds the index into Problems of the credential that an operation lacks.
	Missing map[*openapi.Operation]int
	// Lacking holds the reason why calls of an operation lack a credential that the document requires.
	Lacking map[*openapi.Operation]string
}

// selectCredentials selects the credential of each operation of a document. Those of the API as a whole apply only to
// operations on its origin.
func selectCredentials(api *openapi.API, conf *config.API, auth *upstreamAuth) *Credentials {
	c := &Credentials{Choices: map[*openapi.Operation]*credential.Choice{}, Missing: map[*openapi.Operation]int{}, Lacking: map[*openapi.Operation]string{}}
	satisfied := auth.satisfied(api, conf)
	// With pass-through each caller has its own credential, and with identities its own identity.
	personal := conf.PassesCredential() || conf.Identity != nil || conf.IsIncomplete()
	if auth.set == nil {
		c.reportNone(api, conf, satisfied, personal)
		return c
	}
	c.reportUnused(conf, api)
	indexes := map[string]int{}
	for _, op := range api.Operations {
		if c.goesElsewhere(op, conf) {
			continue
		}
		choice, err := auth.set.Choose(alternatives(op, satisfied))
		var missing *credential.MissingError
		switch {
		case errors.As(err, &missing) && conf.PassesCredential(): // with pass-through each caller has a credential
		case errors.As(err, &missing):
			text := lackOf(missing)
			at, known := indexes[text]
			if !known {
				at = len(c.Problems)
				indexes[text] = at
				c.Problems = append(c.Problems, admin.Problem{Code: codeCredentialMissing, Message: text + ": calls are sent without one"})
			}
			c.Missing[op] = at
			if !personal {
				c.Lacking[op] = lacksCredential
			}
		case err == nil && len(choice.Schemes()) > 0:
			c.Choices[op] = choice
		}
	}
	return c
}

// goesElsewhere reports whether the calls of an operation go to another origin than that of the API. That origin
// receives the credential that is configured for it, if any.
func (c *Credentials) goesElsewhere(op *openapi.Operation, conf *config.API) bool {
	if op.Base == nil || !goesElsewhere(conf, op.Base) {
		return false
	}
	if key, _ := serverCredential(conf, op.Base); key == "" && required(alternatives(op, nil)) {
		to, _ := origin.Of(op.Base)
		c.Lacking[op] = fmt.Sprintf("calls to %s carry no credential, but the document requires one; server_credentials can have one for that origin", to)
	}
	return true
}

// required reports whether none of the alternatives is empty.
func required(alternatives [][]string) bool {
	return len(alternatives) > 0 && !slices.ContainsFunc(alternatives, func(names []string) bool { return len(names) == 0 })
}

// satisfied returns the security schemes that are satisfied without a credential: by the client certificate, or by a
// value that is added to every request.
func (a *upstreamAuth) satisfied(api *openapi.API, conf *config.API) map[string]bool {
	names := map[string]bool{}
	for _, scheme := range api.Schemes {
		switch {
		case scheme.Type == "mutualTLS":
			names[scheme.Name] = names[scheme.Name] || a.tls != nil && conf.ClientCertificate != nil
		case scheme.Type == "apiKey":
			names[scheme.Name] = names[scheme.Name] || conf.Request.Sends(scheme.In, scheme.Key)
		default:
			names[scheme.Name] = names[scheme.Name] || conf.Request.Sends("header", "Authorization")
		}
	}
	return names
}

// alternatives returns the scheme names of each security alternative of an operation, without those in satisfied.
func alternatives(op *openapi.Operation, satisfied map[string]bool) [][]string {
	all := make([][]string, 0, len(op.Security))
	for _, requirement := range op.Security {
		names := make([]string, 0, len(requirement))
		for _, use := range requirement {
			if !satisfied[use.Scheme] {
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
		c.Problems = append(c.Problems, admin.Problem{Code: codeCredentialUnused, Message: fmt.Sprintf(
			"credentials.%s: the document has no security scheme of that name, so the credential is not used%s", name, text.DidYouMean(text.Nearest(name, declared)))})
	}
}

// lackOf describes the configuration that an operation lacks.
func lackOf(e *credential.MissingError) string {
	text := "no credential is configured for the security scheme " + e.SchemeList()
	if len(e.Schemes) == 0 {
		text = "two credentials of one alternative stand in the same place, the " + e.Conflict
	}
	return text
}

// reportNone reports the schemes that operations require although no credential is configured. personal means that
// callers authenticate to the service themselves.
func (c *Credentials) reportNone(api *openapi.API, conf *config.API, satisfied map[string]bool, personal bool) {
	var all []string
	var lacking []*openapi.Operation
	for _, op := range api.Operations {
		unsatisfied := alternatives(op, satisfied)
		if c.goesElsewhere(op, conf) || personal || !required(unsatisfied) {
			continue
		}
		lacking = append(lacking, op)
		for _, names := range unsatisfied {
			text := strings.Join(names, " and ")
			if len(names) > 1 {
				text = "(" + text + ")"
			}
			if !slices.Contains(all, text) {
				all = append(all, text)
			}
		}
	}
	text := "the document requires " + strings.Join(all, " or ") + ", but no credential is configured"
	for _, op := range lacking {
		c.Lacking[op] = text
	}
}
