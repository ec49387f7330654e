// Package main compares the gateway with other servers that make MCP tools of OpenAPI documents, which docs/alternatives.md reports: what
// each makes of real documents and what the list costs, which requests it makes of the same arguments, and for FastMCP how long a start takes
// and how many calls it passes on. It hides how a program is started and measured. The one rule: all programs get the same documents, the same
// arguments, the same service and the same client.
package main
