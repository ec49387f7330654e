// Package endpoint serves MCP endpoints over HTTP and stdio: routes, the middleware in front of them, the method table, the
// lists of tools, resources and prompts with their pages and cursors, the manifest, and the MCP handlers that outlive a
// configuration.
//
// An [Endpoint] is one served URL under one configuration; a [Table] holds all of them, with the screening of hosts and
// origins. [Server] leads requests to the table that is in use when they arrive.
//
// The rule that must not be broken: a request meets the hosts, the tokens and the tools of one configuration, for its whole
// life.
package endpoint
