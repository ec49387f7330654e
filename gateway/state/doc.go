// Package state stores what outlives a request: rate limit counters, the tombstones of ended
// sessions, records of tasks, ids that may be used once and, if configured, responses.
//
// It hides where the state is stored: there is one small interface for each use, with an
// implementation in the memory of one process (Local…) and one on a Redis that replicas share
// (Shared…). [Stores] has one of each, and callers do not know which.
//
//	interface      in memory           on Redis             stores
//	RateCounters   LocalRateCounters   SharedRateCounters   counters of rate limits
//	Revocations    Tombstones          SharedTombstones     ended sessions
//	Records        LocalRecords        SharedRecords        tasks
//	Locks          LocalLocks          SharedLocks          locks on tasks
//	Once           LocalOnce           SharedOnce           ids that may be used once, such as consents
//	ReplayCache    auth's own          SharedReplays        used DPoP proofs
//	cache.Beyond   none                SharedAnswers        cached responses
//
// Three rules: every store is limited in entries and in time, so that no client can make it grow; a
// Redis that is slow, unavailable or faulty makes no call fail, and none wait for longer than
// [SharedOptions].Timeout; and values in Redis are sealed with the keys that all replicas have, under
// names that identify no caller.
package state
