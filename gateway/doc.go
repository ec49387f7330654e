// Package gateway is where the rooms of the house meet: it reads the configured OpenAPI documents, makes the
// catalog of tools, serves it over MCP to callers who hold a token, and turns each call into one HTTP request to
// the service behind.
//
// It hides generations (what is served at one moment, immutable), how they come to be (loading, refreshing,
// reloading, keeping the last good) and how they are replaced: one atomic pointer, one writer.
//
// The one rule: a call runs in the generation that it started with. Whatever a call needs hangs from its [Plan],
// and no field of a plan or of a generation is written after it was published.
package gateway
