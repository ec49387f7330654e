package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"drawbridge/test/openload"
	"drawbridge/test/process"
	"drawbridge/test/wire"
)

var hostile = figure{
	number: 8, name: "hostile documents",
	conditions: [3]string{
		scaled: "make bombs: each within 2 s and 256 MiB; 300 calls/s to another API, 3 windows of 4 s by turns with 3 in which one of them after the other is read, and 3 beside a program of the least priority that counts, with GOMEMLIMIT=230MiB; 2 windows of 8 s by turns with 2 in which the gateway asks for them by itself",
		full:   "make bombs: each within 2 s and 256 MiB; 300 calls/s to another API, 30 windows of 5 s by turns with 30 in which one of them after the other is read, and 30 beside a program of the least priority that counts, with GOMEMLIMIT=230MiB; 4 windows of 150 s by turns with 4 in which the gateway asks for them by itself",
	},
	run: runHostile,
}

// runHostile has each bomb read by a process of its own, and then all of them by a gateway that serves another API meanwhile.
func runHostile(ctx context.Context, s *suite) ([]row, error) {
	rows, err := s.tests(ctx, "", "^(TestBombCorpus|TestBombs)$", "-p", "1", "./openapi", "./openapi/tree", "-args", "-bombs")
	if err != nil {
		return nil, err
	}
	bombs, err := s.bombs(ctx)
	if err != nil {
		return rows, err
	}
	for _, run := range []func(context.Context, *suite, [][]byte) ([]row, error){runBeside, runPolled} {
		more, err := run(ctx, s, bombs)
		if rows = append(rows, more...); err != nil {
			return rows, err
		}
	}
	return rows, nil
}

// bombs are the documents of the corpus.
func (s *suite) bombs(ctx context.Context) ([][]byte, error) {
	dir := filepath.Join(s.dir, "bombs")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	if printed, well, err := s.borrow(ctx, "go", "test", "-count=1", "-run", "^TestWriteBombs$", "./openapi", "-args", "-bombs-to="+dir); err != nil || !well {
		return nil, fmt.Errorf("write the bombs: %w\n%s", err, printed)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var all [][]byte
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		all = append(all, text)
	}
	if len(all) == 0 {
		return nil, errors.New("there are no bombs")
	}
	return all, nil
}

// runBeside measures calls of an API, by turns alone, while one reload after the other brings the next bomb, and beside a neighbour.
func runBeside(ctx context.Context, s *suite, bombs [][]byte) (rows []row, err error) {
	upstream, err := newService(func(w http.ResponseWriter, _ *http.Request) { answerJSON(w, `{"ok":true}`) })
	if err != nil {
		return nil, err
	}
	defer upstream.close()
	var lit atomic.Bool
	var next atomic.Int64
	documents, err := newService(func(w http.ResponseWriter, _ *http.Request) {
		if !lit.Load() {
			answerJSON(w, things)
			return
		}
		n := int(next.Add(1)) - 1
		_, _ = w.Write(bombs[n%len(bombs)])
		if lap := n / len(bombs); lap > 0 {
			_, _ = w.Write([]byte(strings.Repeat("\n", lap))) // another text than last time
		}
	})
	if err != nil {
		return nil, err
	}
	defer documents.close()
	spec, err := s.write("things.json", things)
	if err != nil {
		return nil, err
	}
	apis := fmt.Sprintf("{spec: %q, name: good, base_url: %q}", spec, "http://"+upstream.host)
	apis += fmt.Sprintf(", {spec: %q, name: bad, base_url: %q}", "http://"+documents.host+"/bomb", "http://"+upstream.host)
	g, err := s.serve(ctx, setup{apis: "[" + apis + "]", environment: []string{"GOMEMLIMIT=230MiB"}})
	if err != nil {
		return nil, err
	}
	defer g.stopInto(&err)
	if err := g.until(ctx, "good_get_thing"); err != nil {
		return nil, err
	}
	length := by(s, [3]time.Duration{0, 4 * time.Second, 5 * time.Second})
	b := &besides{}
	if _, _, err := goodCalls(ctx, g.host, upstream.host, length); err != nil { // all is warm
		return nil, err
	}
	if err := process.ClearPeak(g.child.PID()); err != nil {
		return nil, err
	}
	for range by(s, [3]int{0, 3, 30}) {
		calm, calmStraight, err := goodCalls(ctx, g.host, upstream.host, length)
		if err != nil {
			return nil, err
		}
		lit.Store(true)
		before := next.Load()
		bombing, stop := context.WithCancel(ctx)
		var attack sync.WaitGroup
		var attacked error // of the attack, when it has ended
		attack.Go(func() {
			for {
				if err := g.reload(ctx); err != nil { // to its end
					attacked = err
					return
				}
				if !openload.Pause(bombing, 50*time.Millisecond) {
					return
				}
			}
		})
		hurt, hurtStraight, err := goodCalls(ctx, g.host, upstream.host, length)
		stop()
		attack.Wait()
		lit.Store(false)
		if err := errors.Join(err, attacked, g.reload(ctx)); err != nil { // harmless documents again
			return nil, err
		}
		other, err := neighbour(ctx)
		if err != nil {
			return nil, err
		}
		beside, besideStraight, err := goodCalls(ctx, g.host, upstream.host, length)
		if err := errors.Join(err, other.Stop()); err != nil {
			return nil, err
		}
		b.add(int(next.Load()-before), window{calm, calmStraight}, window{hurt, hurtStraight}, window{beside, besideStraight})
	}
	usage, err := g.child.Usage()
	if err != nil {
		return nil, err
	}
	return b.rows(s, len(bombs), float64(usage.PeakRSS)/(1<<20)), nil
}

// window is what was seen of calls in one window.
type window struct{ calls, straight *tally } // by way of the gateway, and to the service itself

// besides is what was seen of calls beside bombs, with a value for each window; times are 99 of 100, in ms.
type besides struct {
	read               []int        // how many bombs were asked for
	calm, bombs, other [2][]float64 // calls, and those straight to the service
	calls              [3]tally     // calm, beside bombs, and beside a neighbour
}

func (b *besides) add(read int, windows ...window) {
	b.read = append(b.read, read)
	for i, into := range []*[2][]float64{&b.calm, &b.bombs, &b.other}[:len(windows)] {
		for k, t := range []*tally{windows[i].calls, windows[i].straight} {
			into[k] = append(into[k], float64(max(1, t.quantile(0.99)))/1e6)
		}
		b.calls[i].add(windows[i].calls)
	}
}

// ratios are the median, the least and the most of what each time is against the other that was measured just before or after.
func ratios(times, others []float64) (middle, least, most float64) {
	all := make([]float64, len(times))
	for i := range times {
		all[i] = times[i] / others[i]
	}
	return median(all)
}

// against tells how much later the calls of some windows end than those of others, which were measured just before or after.
func against(times, others []float64) (ratio float64, text string) {
	ratio, least, most := ratios(times, others)
	return ratio, fmt.Sprintf("× %.2f (%.2f to %.2f)", ratio, least, most)
}

// came tells of the bombs; a window into which none came says nothing.
func (b *besides) came(what string) row {
	came := len(b.read) > 0
	for _, n := range b.read {
		came = came && n > 0
	}
	return row{what, ">= 1", strings.Trim(fmt.Sprint(b.read), "[]"), verdictOf(came)}
}

// failed judges the calls of all windows.
func (b *besides) failed(what string) row {
	var all tally
	for i := range b.calls {
		all.add(&b.calls[i])
	}
	return row{what, "0", fmt.Sprintf("%d of %d%s", all.failed, all.made, orNothing("; ", all.failures())), verdictOf(all.failed == 0 && b.calls[1].made > 0)}
}

// rows judges them.
func (b *besides) rows(s *suite, bombs int, rss float64) []row {
	middle := func(values []float64) float64 { m, _, _ := median(values); return m }
	times := func(i int) string {
		return fmt.Sprintf("%.1f ms alone, %.1f beside bombs, %.1f beside the program", middle(b.calm[i]), middle(b.bombs[i]), middle(b.other[i]))
	}
	ratio, text := against(b.bombs[0], b.calm[0])
	return []row{
		b.came("bombs that were read in each window"),
		b.different(s, bombs, bombs),
		b.failed("calls of another API that failed"),
		pace(s, "calls made of those that were due", &b.calls[0], &b.calls[1], &b.calls[2]),
		{"p99 of another API beside one reload after the other", "<= 2 ×", text, s.timed(ratio <= 2)},
		{"that p99", "", times(0), shown},
		{"p99 of calls straight to the service", "", times(1), shown},
		{"resident memory beside them", "<= 256 MiB", fmt.Sprintf("%.0f MiB", rss), verdictOf(rss <= 256)},
	}
}

// goodCalls calls the good API for that long, and as often the service itself.
func goodCalls(ctx context.Context, host, service string, length time.Duration) (calls, itself *tally, err error) {
	const workers, rate = 32, 300
	callers := make([]*caller, workers)
	for i := range callers {
		callers[i] = &caller{client: &wire.Client{Host: host, Revision: wire.Modern}, from: net.IPv4(127, 0, 8, byte(1+i))}
		defer callers[i].close()
	}
	direct := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: workers}}
	defer direct.CloseIdleConnections()
	first := openLoad(ctx, rate, workers, func(worker, n int) error {
		text, err := callers[worker].call("good_get_thing", n, `{"id":"a"}`)
		switch {
		case err != nil:
			return fmt.Errorf("%w: %.100s", err, text)
		case text != `{"ok":true}`:
			return errors.New("a call got another answer")
		}
		return nil
	})
	second := openLoad(ctx, rate, workers, func(int, int) error {
		_, err := straight(ctx, direct, service)
		return err
	})
	openload.Pause(ctx, length)
	return first.stop(), second.stop(), ctx.Err()
}
