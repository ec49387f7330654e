package main

import (
	"context"
	"fmt"
	"time"

	"drawbridge/auth/authtest"
	"drawbridge/test/figures"
	"drawbridge/test/process"
)

// issue makes a good token.
func (w *world) issue() (string, error) {
	return w.issuer.Issue(authtest.Token{Audience: []string{w.endpoint}, Scopes: []string{"mcp:tools"}, Life: time.Hour})
}

// rotation changes keys under load. A key stays published for one more turn, and its tokens are used for half of that.
func (w *world) rotation(ctx context.Context) ([]figures.Figure, error) {
	before := w.issuer.Requests(authtest.KeySet)
	l, err := w.startLoad(ctx)
	if err != nil {
		return nil, err
	}
	rotations, start := 0, time.Now()
	for time.Since(start) < w.phase {
		rotations++
		if err = w.issuer.RotateKeys(); err != nil {
			break
		}
		if err = pause(ctx, w.rotate/2); err != nil { // tokens of the old key are good still
			break
		}
		if err = l.renew(w); err != nil {
			break
		}
		if err = pause(ctx, w.rotate/4); err != nil {
			break
		}
		w.issuer.DropOldKeys()
		if err = pause(ctx, w.rotate/4); err != nil {
			break
		}
	}
	end := time.Now()
	called := l.stop("rotation", "good tokens refused")
	if err != nil {
		return nil, err
	}
	fetches := w.issuer.Requests(authtest.KeySet) - before
	return append(called,
		judgeFetches(fetches, rotations, int(w.phase/(5*time.Minute))+1),
		figures.New("rotation: time of a call", "", fmt.Sprintf("p50 %s, p99 %s", round(l.quantile(start, end, 0.5)), round(l.quantile(start, end, 0.99))), true),
	), nil
}

// judgeFetches tells whether keys were fetched after each rotation, since no new one can be known otherwise, and not more often than there is reason to.
func judgeFetches(fetches, rotations, refreshes int) figures.Figure {
	most := rotations + refreshes
	return figures.New("rotation: fetches of keys", fmt.Sprintf("%d to %d (rotations and refreshes)", rotations, most), fmt.Sprint(fetches), fetches >= rotations && fetches <= most)
}

// outage makes the authorization server hang, for as long as a part takes: known keys go on, others are told to come again.
func (w *world) outage(ctx context.Context) ([]figures.Figure, error) {
	var c caller
	defer c.hangUp()
	l, err := w.startLoad(ctx)
	if err != nil {
		return nil, err
	}
	if outcome := c.call(w.host, *l.token.Load()); outcome != "ok" { // which makes its key known
		return nil, fmt.Errorf("the first call of the outage: %s", outcome)
	}
	for _, e := range []authtest.Endpoint{authtest.Metadata, authtest.KeySet} {
		w.issuer.Fail(e, &authtest.Failure{Hang: true})
		defer w.issuer.Fail(e, nil)
	}
	s, err := newStrangers(w.issuer.Issuer(), w.endpoint)
	if err != nil {
		return nil, err
	}
	const times = 20
	told, unready, start := outcomes{}, 0, time.Now()
	for n := range times {
		told[c.call(w.host, s.token())]++
		if process.Ready(ctx, w.admin) != nil {
			unready++
		}
		if err := pause(ctx, time.Until(start.Add(time.Duration(n+1)*w.phase/times))); err != nil {
			return nil, err
		}
	}
	end := time.Now()
	_, words := told.besides()
	return append(l.stop("outage", "tokens of known keys refused"),
		figures.New("outage: time of their calls", "", fmt.Sprintf("p50 %s, p99 %s", round(l.quantile(start, end, 0.5)), round(l.quantile(start, end, 0.99))), true),
		figures.New("outage: tokens of unknown keys", "503 with Retry-After", fmt.Sprintf("of %d:%s", times, words), told["503+retry"] == times),
		figures.New("outage: not ready", "0", fmt.Sprintf("%d of %d times", unready, times), unready == 0),
	), nil
}

func round(d time.Duration) time.Duration { return d.Round(10 * time.Microsecond) }

// pause waits, or returns the context's error.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
