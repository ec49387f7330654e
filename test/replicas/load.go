package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"drawbridge/test/figures"
	"drawbridge/test/wire"
)

// part is a phase that was run.
type part struct {
	phase
	began, ended time.Time
	noticed      time.Duration // until all gateways knew of it
}

// made is one call.
type made struct {
	at     time.Time
	took   time.Duration
	status int
	err    error
}

// load is calls that go on until they are stopped.
type load struct {
	cancel context.CancelFunc
	done   sync.WaitGroup

	mu             sync.Mutex
	plain, limited []made
}

// load begins the calls: of a tool that anybody may call as often as he likes, and of one that has a limit.
func (c *cluster) load(ctx context.Context) *load {
	ctx, cancel := context.WithCancel(ctx)
	l := &load{cancel: cancel}
	const workers = 4 // of each gateway
	for _, host := range c.hosts {
		for range workers {
			l.done.Go(func() { l.call(ctx, host, "shop_look", time.Second*3*workers/time.Duration(c.rps), &l.plain) })
		}
		l.done.Go(func() { l.call(ctx, host, "scarce_look", time.Second/time.Duration(c.limit), &l.limited) })
	}
	return l
}

// stop ends the calls, and waits for those that run.
func (l *load) stop() {
	l.cancel()
	l.done.Wait()
}

// call makes one call after the other at a gateway, each a pause after the one before began.
func (l *load) call(ctx context.Context, host, tool string, pause time.Duration, to *[]made) {
	client := &wire.Client{Host: host, Revision: wire.Modern}
	request := []byte(client.Call(tool, "1", "{}"))
	var conn *wire.Conn
	defer func() {
		if conn != nil {
			conn.Close()
		}
	}()
	for due := time.Now(); sleep(ctx, time.Until(due)); due = due.Add(pause) {
		m := made{at: time.Now()}
		if conn == nil {
			conn, m.err = wire.Dial(host)
		}
		if m.err == nil {
			var a wire.Answer
			a, m.err = conn.Exchange(request)
			m.status = a.Status
		}
		m.took = time.Since(m.at)
		if m.err != nil && conn != nil {
			conn.Close()
			conn = nil
		}
		l.mu.Lock()
		*to = append(*to, m)
		l.mu.Unlock()
	}
}

// within are the calls that began between two times.
func within(all []made, from, to time.Time) (some []made) {
	for _, m := range all {
		if !m.at.Before(from) && m.at.Before(to) {
			some = append(some, m)
		}
	}
	return some
}

// share is how long a share of the calls took at most.
func share(all []made, of float64) time.Duration {
	if len(all) == 0 {
		return 0
	}
	times := make([]time.Duration, len(all))
	for i, m := range all {
		times[i] = m.took
	}
	slices.Sort(times)
	return times[min(int(of*float64(len(times))), len(times)-1)]
}

// judge holds what was measured against the goals.
func (c *cluster) judge(l *load, parts []part) []figures.Figure {
	var all []figures.Figure
	failed, words := 0, ""
	for _, m := range slices.Concat(l.plain, l.limited) {
		if m.err != nil || m.status != 200 && m.status != 429 {
			failed++
			words = fmt.Sprintf(", the last with status %d, %v", m.status, m.err)
		}
	}
	all = append(all, figures.New("failed calls, Redis killed and stopped under load", "0", fmt.Sprintf("%d of %d%s", failed, len(l.plain)+len(l.limited), words), failed == 0))
	before := within(l.plain, parts[0].began, parts[0].ended)
	for _, p := range parts {
		calls := within(l.plain, p.began, p.ended)
		first := within(l.plain, p.began, p.began.Add(time.Second))
		slow := share(first, 1) - share(before, 1)
		f := figures.New("slowest call in the first second of: "+p.name, "+20 ms at most", fmt.Sprintf("%+.1f ms (%.1f ms)", ms(slow), ms(share(first, 1))), slow <= 20*time.Millisecond)
		if !p.up {
			all = append(all, f)
		}
		limited := within(l.limited, p.began, p.ended)
		allowed := 0
		for _, m := range limited {
			if m.status == 200 {
				allowed++
			}
		}
		nominal := float64(c.limit) * (p.ended.Sub(p.began).Seconds() + 1) // the burst is a second of it
		all = append(all,
			figures.New("calls of a limited API: "+p.name, "2.0 × at most", fmt.Sprintf("%.2f × (%d of %d tried)", float64(allowed)/nominal, allowed, len(limited)), float64(allowed) <= 2*nominal),
			figures.New("99 of 100 calls: "+p.name, "+20 ms at most", fmt.Sprintf("%.1f ms (%d calls)", ms(share(calls, .99)), len(calls)), share(calls, .99) <= share(before, .99)+20*time.Millisecond))
		if p.begin != nil {
			all = append(all, figures.New("until all replicas have noticed: "+p.name, "2.5 s at most", fmt.Sprintf("%.2f s", p.noticed.Seconds()), p.noticed <= 2500*time.Millisecond))
		}
	}
	return all
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
