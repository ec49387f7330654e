// Package main compares the gateway with FastMCP, which docs/alternatives.md reports: how many real documents each reads, how long it takes
// from start to the first list of tools, what it costs in memory, and how many calls it passes on to the same service. It hides how a program
// is started and measured. The one rule: both programs get the same document, the same service and the same client, in turns.
package main
