// Package mcp is the Model Context Protocol's Streamable HTTP endpoint.
//
// It hides JSON-RPC, the five protocol revisions (one modern, 2026-07-28, and
// four legacy ones), the header rules, sealed sessions and the shape of answers.
// Whoever uses it gives a table of methods and gets an http.Handler; a method
// sees a [Request] whose parts are raw slices of the body, and answers into a
// [Reply]: with a result, after notifications and questions to the client if need be.
// A [Hub] tells open streams what has changed.
//
// The one rule: what came from the client is scanned once, before anything looks
// at it, and nothing is decoded that nobody asked for; what goes to the client is
// escaped once, straight into the output.
package mcp
