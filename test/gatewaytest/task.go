package gatewaytest

import _ "embed"

// AcceptedJob is the response of a service that begins a job.
const AcceptedJob = "HTTP/1.1 202 Accepted\nLocation: /v1/jobs/7\n\n"

// ReportsAPI is a document with a job: it begins with makeReport.
//
//go:embed reports.yaml
var ReportsAPI string
