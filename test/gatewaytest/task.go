package gatewaytest

import _ "embed"

const AcceptedJob = "HTTP/1.1 202 Accepted\nLocation: /v1/jobs/7\n\n"

// ReportsAPI is a document with a job: it begins with makeReport.
//
//go:embed reports.yaml
var ReportsAPI string
