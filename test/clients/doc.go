// Package clients holds that what the gateway does can be used from the official clients: the Go SDK, both generations of the
// TypeScript SDK, and MCP Inspector's command line, each in the revisions that it speaks. It prints a table of features
// by clients, and one of the steps by which clients find and call a tool of GitHub's document in search mode. A loop as hosts
// have it, with a model that is a script, is part of both. It holds no code but tests. The one rule:
// a cell that is neither ok nor a reason why the client can't have the feature fails.
package clients
