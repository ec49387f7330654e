// Package state stores what outlives a request: rate limit counters, the tombstones of ended
// sessions, records of tasks, ids that may be used once and, if configured, responses.
//
// It hides where the state is stored, and thereby whether a replica of the gateway stands alone.
// There is one small interface for each use, with an implementation in the memory of one process and
// one on a Redis that replicas share ([Shared]); [Stores] has one of each, and callers do not know
// which. Three rules: every store is limited in entries and in time, so that no client can make it
// grow; a Redis that is slow, unavailable or faulty makes no call fail, and none wait for longer than
// [SharedOptions].Timeout; and values in Redis are sealed with the keys that all replicas have, under
// names that identify no caller.
package state
