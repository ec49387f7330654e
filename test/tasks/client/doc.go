// Package main is an MCP client for a model that can only run commands. It hides the protocol, and counts in a journal what the model pays
// for. The one rule: it prints what a model would read, and nothing about how a task is judged.
package main
