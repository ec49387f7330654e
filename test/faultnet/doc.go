// Package faultnet breaks connections on purpose: a relay in front of a service, and a wrapper for a single connection, with
// scripted faults; and clients that take little. It hides goroutines, resets of TCP and the order of pieces. The one rule: the same seed and the same bytes
// give the same faults, so that what a test has seen can be seen again.
package faultnet
