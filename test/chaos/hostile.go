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
		scaled: "make bombs: each within 2 s and 256 MiB; 300 calls/s to another API, 4 windows of 1.5 s by turns with 4 of 1.5 s in which one of them after the other is read, with GOMEMLIMIT=230MiB",
		full:   "make bombs: each within 2 s and 256 MiB; 300 calls/s to another API, 30 windows of 5 s by turns with 30 of 5 s in which one of them after the other is read, with GOMEMLIMIT=230MiB",
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
	beside, err := runBeside(ctx, s, bombs)
	return append(rows, beside...), err
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

// runBeside measures calls of an API, by turns without bombs and while one reload after the other brings the next bomb.
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
	length := by(s, [3]time.Duration{0, 1500 * time.Millisecond, 5 * time.Second})
	b := &besides{}
	if _, _, err := goodCalls(ctx, g.host, upstream.host, length); err != nil { // all is warm
		return nil, err
	}
	if err := process.ClearPeak(g.child.PID()); err != nil {
		return nil, err
	}
	for range by(s, [3]int{0, 4, 30}) {
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
		b.add(int(next.Load()-before), calm, hurt, calmStraight, hurtStraight)
	}
	usage, err := g.child.Usage()
	if err != nil {
		return nil, err
	}
	return b.rows(s, float64(usage.PeakRSS)/(1<<20)), nil
}

// besides is what was seen of calls beside bombs, with a value for each window.
type besides struct {
	ratios, straight, well, hurt []float64 // of p99: meanwhile against calm, the same straight to the service, and ms
	alone, beside                tally
	read                         []int // how many bombs were asked for
}

func (b *besides) add(read int, calm, meanwhile, calmStraight, meanwhileStraight *tally) {
	p99 := func(t *tally) float64 { return float64(max(1, t.quantile(0.99))) / 1e6 }
	b.alone.add(calm)
	b.beside.add(meanwhile)
	b.read = append(b.read, read)
	b.well, b.hurt = append(b.well, p99(calm)), append(b.hurt, p99(meanwhile))
	b.ratios = append(b.ratios, p99(meanwhile)/p99(calm))
	b.straight = append(b.straight, p99(meanwhileStraight)/p99(calmStraight))
}

// rows judges them; a window into which no bomb came says nothing.
func (b *besides) rows(s *suite, rss float64) []row {
	ratio, least, most := median(b.ratios)
	control, controlLeast, controlMost := median(b.straight)
	calm, _, _ := median(b.well)
	meanwhile, _, _ := median(b.hurt)
	came := len(b.read) > 0
	for _, n := range b.read {
		came = came && n > 0
	}
	var calls tally
	calls.add(&b.alone)
	calls.add(&b.beside)
	return []row{
		{"bombs that were read in each window", ">= 1", strings.Trim(fmt.Sprint(b.read), "[]"), verdictOf(came)},
		{"calls of another API that failed", "0", fmt.Sprintf("%d of %d%s", calls.failed, calls.made, orNothing("; ", calls.failures())), verdictOf(calls.failed == 0 && b.beside.made > 0)},
		pace(s, "calls made of those that were due", &b.alone, &b.beside),
		{"p99 of another API beside them", "+<= 5 %", fmt.Sprintf("%+.0f %% (%+.0f to %+.0f), %.1f ms, then %.1f ms", 100*ratio-100, 100*least-100, 100*most-100, calm, meanwhile), s.timed(ratio <= 1.05)},
		{"p99 of calls straight to the service beside them", "", fmt.Sprintf("%+.0f %% (%+.0f to %+.0f)", 100*control-100, 100*controlLeast-100, 100*controlMost-100), shown},
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
