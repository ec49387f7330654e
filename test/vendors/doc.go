// Package main runs the clients and converters of model vendors on the tools of real documents, and prints a table: how many tools each
// reads and converts for its model, which it loses and why, and how many calls it can't read the results of. It hides how the gateway,
// the service behind it and the clients are started. The one rule: clients see nothing but the gateway's endpoints.
package main
