// Package history keeps the calls of the last hour in memory, for operators to look at: counts and latencies by minute, and
// the last calls one by one.
//
// It hides how latencies are counted, and how little memory that takes, however many calls there are and whatever clients put
// into them: 460 KiB, at most 2 MiB more for arguments and answers, and 4 KiB for each of at most [MaxAPIs] APIs. Adding a
// call takes constant time and allocates nothing, except the first of an API. Nothing that a call holds is referred to: a name
// may be a part of a request or a document of megabytes.
//
// The rule that must not be broken: an entry holds no argument and no answer unless [Options].Bodies says so, and then only
// what the audit log and the model may see, cut at [MaxBody] bytes.
package history
