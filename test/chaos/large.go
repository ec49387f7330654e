package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"drawbridge/test/openload"
	"drawbridge/test/process"
	"drawbridge/test/wire"
)

// runLarge has many callers ask for large answers at once, more than five times as many as memory holds, while others ask for small ones of another API.
// Whoever has a large answer rests before the next, since the callers share the processors with the gateway.
func runLarge(ctx context.Context, s *suite) (rows []row, err error) {
	const small = `{"ok":true}`
	large := `{"id":"a","rows":["` + strings.Repeat("x", 4<<20) + `"]}`
	serve := func(body string) (*service, error) {
		return newService(func(w http.ResponseWriter, _ *http.Request) { answerJSON(w, body) })
	}
	big, err := serve(large)
	if err != nil {
		return nil, err
	}
	defer big.close()
	little, err := serve(small)
	if err != nil {
		return nil, err
	}
	defer little.close()
	spec, err := s.write("things.json", things)
	if err != nil {
		return nil, err
	}
	// The limit holds seven answers of max_answer in its quarter, so 35 calls at once are five times as many; the API itself has room for all.
	g, err := s.serve(ctx, setup{
		apis: fmt.Sprintf("[{spec: %q, name: big, base_url: %q, max_in_flight: 500}, {spec: %q, name: little, base_url: %q}]",
			spec, "http://"+big.host, spec, "http://"+little.host),
		environment: []string{"GOMEMLIMIT=230MiB"},
	})
	if err != nil {
		return nil, err
	}
	defer g.stopInto(&err)
	if err := errors.Join(g.until(ctx, "big_get_thing"), g.until(ctx, "little_get_thing")); err != nil {
		return nil, err
	}
	if err := process.ClearPeak(g.child.PID()); err != nil {
		return nil, err
	}
	crew := func(workers int, address byte) ([]*caller, func()) {
		callers := make([]*caller, workers)
		for i := range callers {
			callers[i] = &caller{client: &wire.Client{Host: g.host, Revision: wire.Modern}, from: net.IPv4(127, 0, address, byte(1+i))}
		}
		return callers, func() {
			for _, c := range callers {
				c.close()
			}
		}
	}
	greedy, closeGreedy := crew(by(s, [3]int{0, 100, 100}), 10)
	defer closeGreedy()
	modest, closeModest := crew(64, 11) // 50 calls a second that take up to a second
	defer closeModest()
	calls := func(callers []*caller, tool, want string) func(worker, n int) error {
		return func(worker, n int) error {
			text, err := callers[worker].call(tool, n, `{"id":"a"}`)
			if err == nil && text != want {
				return errors.New("a call got another answer")
			}
			return invited(text, err)
		}
	}
	// Counting is a thousandth of the work of reading it as JSON, which would keep the processors from all others.
	next := func(worker, n int) error {
		c := greedy[worker]
		a, body, err := c.exchange(c.client.Call("big_get_thing", strconv.Itoa(n), `{"id":"a"}`))
		switch {
		case err != nil:
		case a.Status != http.StatusOK:
			err = invited("", &refusal{a.Status, a.RetryAfter, string(body)})
		case bytes.Count(body, []byte("x")) < 4<<20:
			err = invited(string(body), errTool)
		}
		openload.Pause(ctx, 500*time.Millisecond)
		return err
	}
	first := closedLoad(ctx, len(greedy), 0, next)
	second := openLoad(ctx, 50, len(modest), calls(modest, "little_get_thing", small))
	client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: len(modest)}}
	defer client.CloseIdleConnections()
	third := openLoad(ctx, 50, len(modest), func(int, int) error {
		_, err := straight(ctx, client, little.host)
		return err
	})
	openload.Pause(ctx, by(s, [3]time.Duration{0, 4 * time.Second, 5 * time.Minute}))
	second.cancel()
	usage, usageErr := g.child.Usage()
	itself := third.stop()
	much, few := first.stop(), second.wait()
	after := openLoad(ctx, 50, len(modest), calls(modest, "little_get_thing", small))
	openload.Pause(ctx, time.Second)
	later := after.stop()
	if err := errors.Join(usageErr, ctx.Err()); err != nil {
		return nil, err
	}
	return largeRows(s, len(greedy), much, few, itself, later, float64(usage.PeakRSS)/(1<<20)), nil
}

// largeRows judges calls for large answers, those for small ones beside them, and those for small ones after them. A process that was killed
// answers none of the last.
func largeRows(s *suite, callers int, much, few, itself, later *tally, rss float64) []row {
	told, toldFew := much.words[errInvited.Error()], few.words[errInvited.Error()]
	unlike := func(t *tally, told int) string {
		if told == t.failed {
			return ""
		}
		return "; " + t.failures()
	}
	return []row{
		{fmt.Sprintf("4 MiB for each of %d callers at once: whole, or refused in words", callers), "all",
			fmt.Sprintf("%d whole, %d refused of %d%s", much.made-much.failed, told, much.made, unlike(much, told)), verdictOf(told == much.failed && much.made > told)},
		{"small answers of another API meanwhile: whole, or refused in words", "all, most of them whole",
			fmt.Sprintf("%d whole, %d refused of %d, %s (median), %s (p99)%s", few.made-few.failed, toldFew, few.made, round(few.quantile(0.5)), round(few.quantile(0.99)), unlike(few, toldFew)), verdictOf(toldFew == few.failed && 2*toldFew < few.made)},
		{"straight to the service meanwhile", "", fmt.Sprintf("%s (median), %s (p99)", round(itself.quantile(0.5)), round(itself.quantile(0.99))), shown},
		pace(s, "calls for small answers made of those that were due", few, later),
		{"resident memory at most", "<= 256 MiB", fmt.Sprintf("%.0f MiB", rss), verdictOf(rss <= 256)},
		{"small answers after: failed", "0", fmt.Sprintf("%d of %d%s", later.failed, later.made, orNothing("; ", later.failures())), verdictOf(later.failed == 0 && later.made > 0)},
	}
}
