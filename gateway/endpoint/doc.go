// Package endpoint serves MCP endpoints over HTTP and stdio: routes, the middleware in front of them, the method table, the
// lists of tools, resources and prompts with their pages and cursors, the manifest, and the MCP handlers that outlive a
// configuration.
//
// An [Endpoint] is one served URL under one configuration; a [Table] holds all of them, with the screening of hosts and
// origins. [Server] serves each request with the table that is in use when it arrives.
//
// The rule that must not be broken: one request is served with the hosts, tokens and tools of one configuration, from its
// beginning to its end.
package endpoint
