// Package widening detects whether one configuration gives more access than another: it summarizes
// what a configuration allows and restricts, without secrets, compares two summaries, and stores
// the summary of the last configuration that ran. The tag access of a key of the configuration names
// the rule by which the key is compared. Under one configuration the package compares two documents.
// [Access] is the access to one operation in both cases.
//
// The one rule: anything that can't be compared counts as wider, and so does each change of a key
// without the tag. A summary is immutable.
package widening
