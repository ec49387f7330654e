// Package upstream makes the HTTP calls to the services behind the gateway. No other package
// creates HTTP clients.
//
// It hides what a call to a slow, broken or hostile machine requires: deadlines for each phase, a
// connection pool, SSRF protection, decompression with limits on size and ratio, and a closed set
// of error kinds with texts that may be shown to a model.
//
// The one rule: a call ends in a complete response or in an [*Error], never in a partial response
// that looks complete, and the text of an [*Error] for callers contains no URL, address or header.
package upstream
