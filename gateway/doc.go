// Package gateway wires the other packages together: it loads the configured OpenAPI documents, builds the catalog of
// tools, serves it over MCP to callers with a token, and turns each call into one HTTP request to the service.
//
// The package hides generations (immutable snapshots of everything that is served), how they are built from the documents
// of sources (package gateway/source) and how they are replaced: one atomic pointer, one writer. A deployment is a
// configuration with its sources and token guard; building it yields a generation.
//
// The rule that must not be broken: a call runs in the generation that it started with. Everything that a call needs is
// reachable from its [plan.Plan], and no field of a plan or of a generation is written after it was published.
package gateway
