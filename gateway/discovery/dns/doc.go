// Package dns finds the instances of services in SRV records (RFC 2782).
//
// It hides how often the records are asked for, which of them are used, and what a failure of one name means for the others.
// It asks with the resolver of package net, which does not show the TTL of records, so that they are asked for at an interval.
//
// The rule that must not be broken: a name that can't be resolved keeps its last instances; only an answer that it has no records
// takes them away.
package dns
