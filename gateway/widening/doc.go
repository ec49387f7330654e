// Package widening detects whether one configuration gives more access than another: it summarizes
// what a configuration allows and restricts, without secrets, compares two summaries, and stores
// the summary of the last configuration that ran. Under one configuration it compares two documents.
// [Access] is the access to one operation in both cases.
//
// The one rule: anything that can't be compared counts as wider. A summary is immutable.
package widening
