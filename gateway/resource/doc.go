// Package resource reads operations as resources and polls those that clients have subscribed to.
//
// The rule that must not be broken: a read is a call, with all that a call needs; a subscriber learns of a change only if it
// may read the resource at that moment, and no poll costs more than one call of one of its subscribers.
package resource
