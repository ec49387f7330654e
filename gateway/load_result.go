package gateway

import (
	"drawbridge/gateway/admin"
	"drawbridge/gateway/discovery"
	"drawbridge/gateway/plan"
	"drawbridge/gateway/reload"
	"drawbridge/gateway/report"
	"drawbridge/openapi"
)

// OverlayAction is what became of an action of an overlay.
type OverlayAction = admin.OverlayAction

// Reason is one reason for the result of an operation.
type Reason = admin.Reason

// Drift is how the calls and answers of an API differ from its document.
type Drift = admin.Drift

// AdminStatus is the answer of the admin listener of a running gateway about all APIs.
type AdminStatus = admin.Status

// AdminReport is its answer about one API.
type AdminReport = admin.Report

// Plan is what calls of a tool need.
type Plan = plan.Plan

// ToolAccess is the access requirements of a tool and the way its calls reach the service.
type ToolAccess = admin.ToolAccess

// Discovery is what providers of services have found.
type Discovery = admin.Discovery

// Service is the service of a registry that an API was made of.
type Service = admin.Service

// ProviderStatus is the state of a provider of services.
type ProviderStatus = discovery.ProviderStatus

// ServiceStatus tells what became of a service of a registry.
type ServiceStatus = discovery.ServiceStatus

// Outcome is the result of [Gateway.Load] for one API.
type Outcome struct {
	// Name is the name of the API.
	Name string
	// Report is the load report, with advice if [Options.Advise] is set.
	Report admin.Report
	// API holds the operations, in the order of the report; nil if Err is not nil.
	API *openapi.API
	// Err is the reason why the document can't be used.
	Err error
}

// outcomeOf describes what became of a source, with the load report of its API.
func outcomeOf(l reload.Loaded, loaded admin.Report) Outcome {
	o := Outcome{Name: l.Source.Name, Report: loaded, Err: l.Err}
	if l.Document != nil {
		o.API = l.Document.API
		o.Report.Advice = report.Advice(l.Source, l.Document.Advice)
	}
	return o
}
