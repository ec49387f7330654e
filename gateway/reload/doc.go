// Package reload decides which configuration is served, and which version of each document. It hides how a new
// configuration replaces the one in use (its documents are read first, then all of it comes into use at once), how new
// documents come into use, and which ones are quarantined, rejected, or held until an operator accepts them.
//
// The rule that must not be broken: the goroutine of [Runner.Run] is the single writer. No other code changes what is
// served, and a panic in one of its steps leaves the served generation unchanged.
package reload
