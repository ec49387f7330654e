// Package state stores what outlives a request: rate limit counters, the tombstones of ended
// sessions, records of tasks, and ids that may be used once.
//
// It hides where the state is stored. There is one small interface for each use, with an
// implementation in the memory of one process and one on a Redis that replicas share ([Shared]);
// callers do not know which they have. Two rules: every store is limited in entries and in time, so
// that no client can make it grow; and a Redis that is slow, unavailable or faulty makes no call
// fail, and none wait for longer than [SharedOptions].Timeout.
package state
