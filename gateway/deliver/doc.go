// Package deliver serves tools/call: it makes the invocation of a call from an MCP request, and turns the outcome of the call into a
// result with content blocks, structuredContent, notes, links and _meta, within the limits of results.
//
// It hides the parts of a result that are not from the response of the service. The rule that must not be broken: it sends no requests to
// services and decides nothing about a call. An outcome is counted and redacted before it arrives here.
package deliver
