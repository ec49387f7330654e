// Package widening tells whether one configuration gives more access than another: it summarizes what a configuration allows and
// restricts, without secrets, compares two summaries, and keeps the summary of the last configuration that ran.
//
// The one rule: whatever can't be compared counts as wider. A summary is a value that nobody writes to once it is made.
package widening
