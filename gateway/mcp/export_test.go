package mcp

import (
	"context"
	"sync"
	"time"
)

// SetStall shortens what a client may stand still, for tests on real sockets.
func (h *Handler) SetStall(d time.Duration) { h.stallTimeout = d }

// SetPatience changes how soon a client is slow to read.
func (h *Handler) SetPatience(d time.Duration) { h.readPatience = d }

// UsedOnce is a [SpentNonces] that forgets nothing.
type UsedOnce struct{ used sync.Map }

// Spend implements [SpentNonces].
func (u *UsedOnce) Spend(_ context.Context, _, id string, _ time.Time) (bool, error) {
	_, again := u.used.LoadOrStore(id, true)
	return !again, nil
}

// Begin counts a request of a caller that waits, and never ends.
func (l *ElicitationLimit) Begin(caller string, bytes int64) *ElicitationLimitError {
	_, full := l.start(caller, bytes)
	return full
}

// Keep counts an answer for a request of a caller.
func (l *ElicitationLimit) Keep(caller string, bytes int64) bool {
	return (&elicitation{limit: l, caller: caller}).reserve(bytes)
}

// Waiting returns the number of waiting requests.
func (l *ElicitationLimit) Waiting() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.total.requests
}

// ListsPause is the least time between two notifications of changes of a list.
const ListsPause = listsPause

// SetListsPause changes that time for streams that are opened later.
func (b *Broker) SetListsPause(d time.Duration) { b.listsPause = d }
