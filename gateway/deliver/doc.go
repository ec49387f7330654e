// Package deliver turns outcomes of calls into what clients of MCP get: the content blocks, structuredContent, notes, ceilings, links and
// _meta of a result of tools/call, which it answers. It also makes the invocation of a call from an MCP request.
//
// It hides what a result says besides the response of the service. The rule that must not be broken: it calls nothing and decides nothing
// about a call; an outcome has been counted and redacted before it comes here.
package deliver
