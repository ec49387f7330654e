// Package admin is the HTTP interface for operators: liveness, readiness, metrics, the state of
// each API, and reload.
//
// It hides routes, formats and the check of the reload token. It is independent of the gateway: it
// calls functions for the current state with each request.
//
// The one rule: nothing here has side effects except POST /reload and those that accept something,
// which require the token, and the forms of the console, which has rules of its own (O12). It must
// be served on a separate listener, never together with /mcp (Z9).
package admin
