package gateway

import (
	"slices"
	"strings"

	"drawbridge/openapi"
)

// Outcome is what became of one API in [Gateway.Load].
type Outcome struct {
	// Name is the API's name, Standard the version of the OpenAPI standard that its document follows.
	Name, Standard string
	// API holds the operations, those that were skipped, and the document's problems; nil if there is an error.
	API *openapi.API
	// Tools is how many operations became tools.
	Tools int
	// Report lists where the document breaks the standard, if [Options.Report] asks for it.
	Report []openapi.Problem
	// BaseURL tells whether the configuration says where calls go.
	BaseURL bool
	// UnmetSecurity names the alternatives of security schemes that operations ask for while no credential is
	// configured.
	UnmetSecurity []string
	// Err tells why the document can't be used.
	Err error

	loaded *loaded
}

// describe fills in what is known when the API has been named and its tools were made.
func (o *Outcome) describe(s *source, tools int) {
	o.Name, o.Tools, o.BaseURL = s.name, tools, s.config.BaseURL != nil
	if o.loaded == nil {
		return
	}
	o.API, o.Standard, o.Report = o.loaded.api, o.loaded.standard, o.loaded.report
	if s.config.Credential != nil {
		return
	}
	for _, op := range o.API.Operations {
		if slices.ContainsFunc(op.Security, func(r openapi.Requirement) bool { return len(r) == 0 }) {
			continue // it may be called without
		}
		for _, alternative := range op.Security {
			var names []string
			for _, use := range alternative {
				names = append(names, use.Scheme)
			}
			name := strings.Join(names, " and ")
			if len(names) > 1 {
				name = "(" + name + ")"
			}
			if !slices.Contains(o.UnmetSecurity, name) {
				o.UnmetSecurity = append(o.UnmetSecurity, name)
			}
		}
	}
}
