package state

import (
	"sync"
	"time"
)

// judge tells for one use whether Redis answers it in time. A command that is slow, because its value is large or many listen to it,
// says nothing of other commands: what is late pauses its own use alone. After a pause one operation is let through, and what becomes
// of it decides for the rest. It is safe for concurrent use.
type judge struct {
	mu     sync.Mutex
	pause  time.Duration // 0: it answers
	next   time.Time     // when one operation is let through
	told   time.Time     // when the log was told of it for the last time
	trying bool          // one is on its way
}

// toldPause is how often the log is told that a use is slow, or refused.
const toldPause = time.Minute

// lets tells whether an operation may be tried.
func (j *judge) lets(now time.Time) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case j.pause == 0:
		return true
	case j.trying || now.Before(j.next):
		return false
	}
	j.trying = true
	return true
}

// late notes that an operation has taken too long; true: the log should tell.
func (j *judge) late(now time.Time) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.pause == 0 || j.trying { // else it began before the pause, and others have told the same
		j.pause = min(max(2*j.pause, firstProbe), lastProbe)
		j.next = now.Add(j.pause)
	}
	j.trying = false
	return j.tells(now)
}

// refused notes that an operation was answered in time, with no; true: the log should tell.
func (j *judge) refused(now time.Time) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.pause, j.trying = 0, false
	return j.tells(now)
}

// tells tells whether the log should be told, and that it was. The lock is held.
func (j *judge) tells(now time.Time) bool {
	if now.Sub(j.told) < toldPause {
		return false
	}
	j.told = now
	return true
}

// answered notes that one was done in time.
func (j *judge) answered() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.pause, j.trying = 0, false
}

// left notes that nobody has waited for the end of an operation: it says nothing.
func (j *judge) left() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.trying = false
}

// maxTold is how often in a minute the log is told that Redis came or went.
const maxTold = 10

// telling bounds what the log is told of a Redis that comes and goes. It is safe for concurrent use.
type telling struct {
	mu    sync.Mutex
	since time.Time
	n     int
}

// tells tells whether the log should be told, and how many were left out in the minute before.
func (t *telling) tells(now time.Time) (tell bool, untold int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if now.Sub(t.since) >= toldPause {
		untold = max(0, t.n-maxTold)
		t.since, t.n = now, 0
	}
	t.n++
	return t.n <= maxTold, untold
}
