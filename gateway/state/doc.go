// Package state holds what outlives a request: the tombstones of ended
// sessions, and what is known of tasks.
//
// It hides where the state lives. Consumers declare the small interfaces that
// they need; the types here implement them in the memory of one process. The one
// rule: every store is bounded in entries and in time, so that no client can
// make it grow.
package state
