// Package mcp implements the server side of the Model Context Protocol: the Streamable HTTP endpoint, the HTTP+SSE
// transport of 2024-11-05 and stdio.
//
// It hides JSON-RPC, the five protocol revisions (the stateless one, 2026-07-28, and four legacy ones), the header
// rules, sealed sessions and the encoding of results. Callers supply a table of methods and get an http.Handler. A
// method receives a [Request], whose parts are raw slices of the body, and writes to a [Reply]: one result, preceded by
// notifications and elicitations if need be. A [Broker] notifies open streams of changes.
//
// The rule that must not be broken: input from the client is scanned once, before anything looks at it, and decoded
// only where it is needed; output to the client is escaped once, straight into the write buffer.
package mcp
