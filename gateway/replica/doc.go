// Package replica is the state that replicas of the gateway share: counters of rate limits, used proofs and consents, ended
// sessions, tasks and, if configured, responses. It hides whether a replica stands alone: without state.redis each part
// is local, with the same interface.
//
// The rule that must not be broken: data in the shared store is sealed with the keys that all replicas have, and nothing
// of it is in the clear but names that only those keys can make.
package replica
