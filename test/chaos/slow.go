package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"drawbridge/test/openload"
	"drawbridge/test/process"
	"drawbridge/test/wire"
)

var slowClients = figure{
	number: 13, name: "slow connections",
	conditions: [3]string{
		"300 connections from 30 addresses in each of 3 modes: a head, a body and an answer of a byte now and then; 40 calls/s in a window of 1 s without them and one with each mode",
		"10,000 connections at a time from 100 addresses in each of 3 modes: a head, a body and an answer of a byte now and then; 200 calls/s, 3 times in a window of 5 s without them and one with each mode",
		"10,000 connections at a time from 100 addresses in each of 3 modes: a head, a body and an answer of a byte now and then; 200 calls/s, 10 times in a window of 30 s without them and one with each mode",
	},
	run: runSlowClients,
}

// runSlowClients measures the calls of others while each kind of slow connection is there, by turns with while none is. What the gateway closes
// is opened anew at once. As they come, thousands within a second or two, they are much work, as any others would be: that time is told by itself. So
// is what becomes of calls that go straight to the service, since the attacker, who has his own machine, has processors of this one.
func runSlowClients(ctx context.Context, s *suite) (rows []row, err error) {
	upstream, err := newService(func(w http.ResponseWriter, _ *http.Request) { answerJSON(w, `{"ok":true}`) })
	if err != nil {
		return nil, err
	}
	defer upstream.close()
	// A list of some 600 KB, which no buffer of a socket takes at once.
	var document strings.Builder
	document.WriteString(strings.TrimSuffix(things, "}}"))
	for n := range 1500 {
		fmt.Fprintf(&document, `,"/more/%d":{"get":{"operationId":"more%d","summary":%q,"responses":{"200":{"description":"ok"}}}}`, n, n, strings.Repeat("Much is said of it. ", 10))
	}
	document.WriteString("}}")
	spec, err := s.write("things.json", document.String())
	if err != nil {
		return nil, err
	}
	g, err := s.serve(ctx, setup{apis: fmt.Sprintf("[{spec: %q, name: things, base_url: %q}]", spec, "http://"+upstream.host)})
	if err != nil {
		return nil, err
	}
	defer g.stopInto(&err)
	o := &others{host: g.host, service: upstream.host, rate: by(s, [3]int{40, 200, 200})}
	connections, windows := by(s, [3]int{300, 10_000, 10_000}), by(s, [3]int{1, 3, 10})
	length := by(s, [3]time.Duration{time.Second, 5 * time.Second, 30 * time.Second})
	passed := func(d time.Duration) func() bool {
		end := time.Now().Add(d)
		return func() bool { return !time.Now().Before(end) }
	}
	if _, _, err := o.call(ctx, passed(length)); err != nil { // all is warm
		return nil, err
	}
	files, err := process.Descriptors(g.child.PID())
	if err != nil {
		return nil, err
	}
	found := make([]slowness, len(slowModes))
	for range windows {
		calm, calmStraight, err := o.call(ctx, passed(length))
		if err != nil {
			return nil, err
		}
		for i, mode := range slowModes {
			buffers, err := process.SocketMemory()
			if err := errors.Join(err, process.ClearPeak(g.child.PID())); err != nil {
				return nil, err
			}
			c, err := s.crowd(ctx, g.host, mode.name, connections)
			if err != nil {
				return nil, err
			}
			there, over := false, passed(30*time.Second)
			come, _, err := o.call(ctx, func() bool {
				if !there && enough(c.counts().open, connections) { // hundreds still wait to be accepted, and whoever comes now waits behind them
					there, over = true, passed(time.Second/2)
				}
				return over()
			})
			if err != nil {
				return nil, errors.Join(err, c.child.Stop())
			}
			var open []int
			var buffersErr error
			held := 0
			over = passed(length)
			next := time.Now()
			meanwhile, meanwhileStraight, err := o.call(ctx, func() bool {
				if now := time.Now(); !now.Before(next) {
					open, next = append(open, c.counts().open), now.Add(100*time.Millisecond)
					bytes, err := process.SocketMemory()
					held, buffersErr = max(held, bytes-buffers), errors.Join(buffersErr, err)
				}
				return over()
			})
			again := c.counts().again
			usage, usageErr := g.child.Usage()
			if err := errors.Join(err, buffersErr, usageErr, c.child.Stop()); err != nil {
				return nil, err
			}
			found[i].add(open, again, come, calm, meanwhile, float64(meanwhileStraight.quantile(0.99))/float64(max(1, calmStraight.quantile(0.99))), held, usage)
			if err := g.gone(ctx, files+connections/10); err != nil {
				return nil, err
			}
		}
	}
	for i, mode := range slowModes {
		rows = append(rows, found[i].rows(s, mode.name, connections)...)
	}
	return rows, nil
}

// gone waits until the gateway has no more files and connections than that: those of others come and go, those of a crowd have gone.
func (g *gateway) gone(ctx context.Context, most int) error {
	for end := time.Now().Add(20 * time.Second); ; {
		open, err := process.Descriptors(g.child.PID())
		if err != nil || open <= most {
			return err
		}
		if time.Now().After(end) {
			return fmt.Errorf("the gateway has %d files and connections 20 s after a crowd has gone, want %d at most", open, most)
		}
		if !openload.Pause(ctx, 50*time.Millisecond) {
			return ctx.Err()
		}
	}
}

// slowness is what was seen of one kind of slow connections, with a value for each window.
type slowness struct {
	ratios, straight, well, hurt, coming []float64 // of p99: meanwhile against calm, the same straight to the service, and ms
	alone, beside, meeting               tally     // the calls of others in windows without them, with them, and as they come
	opened                               []string  // how often connections were opened
	open, least                          []int     // how many were open: the median and the least in each window
	rss                                  float64   // MiB
	buffers                              int       // bytes of sockets of both ends
}

func (w *slowness) add(open []int, again int, come, calm, meanwhile *tally, straight float64, buffers int, usage process.Usage) {
	p99 := func(t *tally) float64 { return float64(t.quantile(0.99)) / 1e6 }
	slices.Sort(open)
	w.open, w.least = append(w.open, open[len(open)/2]), append(w.least, open[0])
	w.opened = append(w.opened, strconv.Itoa(again))
	w.coming = append(w.coming, p99(come))
	w.meeting.add(come)
	w.alone.add(calm)
	w.beside.add(meanwhile)
	w.well, w.hurt = append(w.well, p99(calm)), append(w.hurt, p99(meanwhile))
	w.ratios = append(w.ratios, float64(meanwhile.quantile(0.99))/float64(max(1, calm.quantile(0.99))))
	w.straight = append(w.straight, straight)
	w.buffers = max(w.buffers, buffers)
	w.rss = max(w.rss, float64(usage.PeakRSS)/(1<<20))
}

func (w *slowness) rows(s *suite, name string, connections int) []row {
	ratio, least, most := median(w.ratios)
	control, controlLeast, controlMost := median(w.straight)
	calm, _, _ := median(w.well)
	meanwhile, _, _ := median(w.hurt)
	came, _, cameMost := median(w.coming)
	there, met := "", len(w.open) > 0
	for i, open := range w.open {
		there += fmt.Sprintf("%d (%d) ", open, w.least[i])
		met = met && enough(open, connections) && w.least[i] >= connections/2
	}
	var calls tally
	calls.add(&w.beside)
	calls.add(&w.meeting)
	return []row{
		{name + ", connections at once", fmt.Sprintf(">= 95 %% of %d (median), half of it (least)", connections), strings.TrimSpace(there), verdictOf(met)},
		{name + ", calls of others that failed", "0", fmt.Sprintf("%d of %d, with connections opened %s times%s", calls.failed, calls.made, strings.Join(w.opened, ", "), orNothing("; ", calls.failures())), verdictOf(calls.failed == 0 && w.beside.made > 0)},
		pace(s, name+", calls made of those that were due", &w.alone, &w.beside),
		{name + ", p99 of others", "<= 2 ×", fmt.Sprintf("× %.2f (%.2f to %.2f), %.1f ms, then %.1f ms", ratio, least, most, calm, meanwhile), s.timed(ratio <= 2)},
		{name + ", p99 of calls straight to the service", "", fmt.Sprintf("× %.2f (%.2f to %.2f)", control, controlLeast, controlMost), shown},
		{name + ", p99 of others as they come", "", fmt.Sprintf("%.0f ms (median), %.0f ms (most)", came, cameMost), shown},
		{name + ", memory of sockets at both ends, of each connection", "<= 48 KiB", fmt.Sprintf("%.1f KiB (%d MiB)", float64(w.buffers)/1024/float64(connections), w.buffers>>20), verdictOf(w.buffers <= connections*48<<10)},
		{name + ", resident memory", "<= 400 MiB", fmt.Sprintf("%.0f MiB", w.rss), verdictOf(w.rss <= 400)},
	}
}

// enough tells whether a crowd is there: what is measured beside fewer says nothing of it. When the gateway closes those of a head, all that came
// together go together, and it takes a moment until others are there: so it is the median that has to be enough.
func enough(open, connections int) bool { return open >= connections*95/100 }

// others are the callers that have nothing to do with it.
type others struct {
	host, service string
	rate          int // calls a second
}

// call makes calls, and as many to the service itself, until it is time.
func (o *others) call(ctx context.Context, until func() bool) (calls, itself *tally, err error) {
	const workers = 16
	callers := make([]*caller, workers)
	for i := range callers {
		c, err := newCaller(o.host, wire.Modern, "")
		if err != nil {
			return nil, nil, err
		}
		defer c.close()
		c.from = net.IPv4(127, 0, 1, byte(1+i))
		callers[i] = c
	}
	direct := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: workers}}
	defer direct.CloseIdleConnections()
	first := openLoad(ctx, o.rate, workers, func(worker, n int) error {
		_, err := callers[worker].call("get_thing", n, `{"id":"a"}`)
		return err
	})
	second := openLoad(ctx, o.rate, workers, func(int, int) error {
		_, err := straight(ctx, direct, o.service)
		return err
	})
	for !until() && err == nil {
		if !openload.Pause(ctx, 10*time.Millisecond) {
			err = ctx.Err()
		}
	}
	return first.stop(), second.stop(), err
}

// drip writes a byte every now and then, until the other side has closed.
func drip(ctx context.Context, conn net.Conn, text []byte) {
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_, _ = conn.Read(make([]byte, 1)) // an answer or the end
	}()
	defer func() { conn.Close(); <-gone }()
	for ctx.Err() == nil {
		if _, err := conn.Write(text[:1]); err != nil {
			return
		}
		if text = text[1:]; len(text) == 0 {
			return
		}
		select {
		case <-gone:
			return
		case <-time.After(900 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}

// slowHead never ends its header.
func slowHead(ctx context.Context, conn net.Conn, began func()) {
	if _, err := conn.Write([]byte("POST /mcp HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")); err == nil {
		began()
		drip(ctx, conn, bytes.Repeat([]byte("a"), 4000))
	}
}

// slowBody never ends its body.
func slowBody(ctx context.Context, conn net.Conn, began func()) {
	c := &wire.Client{Host: conn.RemoteAddr().String(), Revision: wire.Modern}
	request := []byte(c.Call("get_thing", "1", `{"id":"`+strings.Repeat("a", 4000)+`"}`))
	if _, err := conn.Write(request[:len(request)-4000]); err == nil {
		began()
		drip(ctx, conn, request[len(request)-4000:])
	}
}

// slowAnswer asks for much and reads a byte of it now and then.
func slowAnswer(ctx context.Context, conn net.Conn, began func()) {
	c := &wire.Client{Host: conn.RemoteAddr().String(), Revision: wire.Modern}
	if _, err := conn.Write([]byte(c.List(""))); err != nil {
		return
	}
	for one, n := make([]byte, 1), 0; ctx.Err() == nil; n++ {
		if _, err := conn.Read(one); err != nil {
			return
		}
		if n == 0 {
			began()
		}
		openload.Pause(ctx, 900*time.Millisecond)
	}
}
