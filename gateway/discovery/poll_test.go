package discovery

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// A registry that is away for a minute is asked often enough that its return is noticed within five seconds, however long the
// interval is; with an answer, or a part of one, the interval holds.
func TestPoll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		start := time.Now()
		back := start.Add(time.Minute)
		var asked, answered int
		var last time.Time
		Poll(ctx, time.Hour, func(context.Context) ([]Target, error) {
			asked++
			if time.Now().Before(back) {
				return nil, errors.New("away")
			}
			return []Target{}, errors.New("one of them can't be used")
		}, func(targets []Target, _ error) {
			now := time.Now()
			switch {
			case targets == nil:
			case answered == 0:
				if late := now.Sub(back); late > 4*time.Second {
					t.Errorf("asked %v after the return", late)
				}
				answered++
			default:
				if now.Sub(last) != time.Hour {
					t.Errorf("asked after %v", now.Sub(last))
				}
				cancel()
			}
			last = now
		})
		if asked < 15 || asked > 40 {
			t.Errorf("asked %d times", asked)
		}
	})
}
