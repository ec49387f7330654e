// Package upstream makes the HTTP calls to the services behind the gateway. It
// is the only maker of HTTP clients in the program.
//
// It hides everything that a call to a machine that may be slow, broken or
// hostile needs: deadlines for each phase, a connection pool that fits, a guard
// on the addresses that may be dialled, decompression with limits on size and
// ratio, and a closed set of error kinds with texts that may be shown to a
// model.
//
// The one rule: a call ends in a whole answer or in an [*Error], never in part
// of an answer that looks whole, and what an [*Error] tells a caller names no
// URL, address or header.
package upstream
