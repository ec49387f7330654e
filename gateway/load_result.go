package gateway

import (
	"drawbridge/gateway/admin"
	"drawbridge/openapi"
)

// Reason is why an operation has its fate.
type Reason = admin.Reason

// ToolAccess is what a call of a tool needs and how it reaches its service.
type ToolAccess = admin.ToolAccess

// Outcome is what became of one API in [Gateway.Load].
type Outcome struct {
	// Name is the API's name.
	Name string
	// Report is the load report, with advice if [Options.Advise] asks for it.
	Report admin.Report
	// API holds the operations, in the order of the report; nil if there is an error.
	API *openapi.API
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
	o.Report.Advice = (&fates{secrets: s.secrets}).listed(o.loaded.advice)
}
