// Package gateway wires the other packages together: it loads the configured OpenAPI documents, builds the catalog of
// tools, serves it over MCP to callers with a token, and turns each call into one HTTP request to the service.
//
// A [Gateway] has three parts: what is served, how clients, services and operators reach it, and the access that the
// operator of the process has to its tools. The package hides how they come to be and in which order. Generations
// (immutable snapshots of everything that is served) are built by package gateway/generation and replaced by
// gateway/reload: one atomic pointer, one writer.
//
// The rule that must not be broken: a call runs in the generation that it started with. Everything that a call needs is
// reachable from its [plan.Plan], and no field of a plan or of a generation is written after it was published.
package gateway
