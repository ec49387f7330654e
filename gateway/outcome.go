package gateway

import (
	"slices"
	"strings"

	"drawbridge/gateway/admin"
	"drawbridge/openapi"
)

// Reason is why an operation has its fate.
type Reason = admin.Reason

// Outcome is what became of one API in [Gateway.Load].
type Outcome struct {
	// Name is the API's name.
	Name string
	// Report is the load report, with advice if [Options.Advise] asks for it.
	Report admin.Report
	// API holds the operations, in the order of the report; nil if there is an error.
	API *openapi.API
	// UnmetSecurity names the alternatives of security schemes that operations ask for while no credential is
	// configured.
	UnmetSecurity []string
	// Err tells why the document can't be used.
	Err error

	loaded *loaded
}

// describe fills in what is known when the API has been named.
func (o *Outcome) describe(s *source) {
	o.Name = s.name
	if o.loaded == nil {
		return
	}
	o.API = o.loaded.api
	o.Report.Advice = (&fates{hidden: s.conceal}).listed(o.loaded.advice)
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
