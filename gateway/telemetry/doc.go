// Package telemetry holds the metrics of the gateway, the spans of calls and token checks, the sampling of log lines, and the closed
// sets of outcomes and reasons that metrics, logs and the audit log share.
//
// It hides the names and labels of series, when a series begins and ends, how a trace context is taken from a request, and how many
// lines a failure may have in the log. It reads the state of the gateway through functions, and decides nothing.
//
// The one rule: a label is never a text that a caller or a service makes up. Labels are APIs and tools of the configuration, registered
// numbers, and members of the sets in this package; arguments, answers and tokens are in no metric, span or log line.
package telemetry
