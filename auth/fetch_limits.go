package auth

import "time"

// Limits on fetches from an authorization server (T11 to T13).
const (
	fetchTime      = 2 * time.Second
	fetchBytes     = 256 << 10
	fetchRedirects = 3
	refreshEvery   = 5 * time.Minute
	staleAfter     = 24 * time.Hour
	rediscover     = time.Hour
	firstBackoff   = time.Second
	lastBackoff    = time.Minute

	lastBackoffWithoutKeys = 5 * time.Second
)
