// Package state holds what outlives a request: what was counted against rates, the tombstones of ended
// sessions, what is known of tasks, and what may be used once.
//
// It hides where the state lives. There is one small interface for each use, a side of it in the memory of one
// process, and one on a Redis that replicas share ([Shared]); nobody who uses them knows which he has. Two rules:
// every store is bounded in entries and in time, so that no client can make it grow; and a Redis that is
// slow, away or lies makes no call fail, and none wait for longer than [SharedOptions].Timeout.
package state
