// Package history keeps the calls of the last hour in memory, for operators to look at: counts and latencies by minute, and
// the last calls one by one.
//
// It hides how latencies are counted, and how little memory that takes: about 400 KiB, and 1 KiB for each API that was called
// within the hour. Adding a call takes constant time and allocates nothing, except the first of an API.
//
// The rule that must not be broken: an entry holds no argument and no answer unless [Options].Bodies says so, and then only
// what the audit log and the model may see, cut at [MaxBody] bytes.
package history
