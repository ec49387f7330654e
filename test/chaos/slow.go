package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"drawbridge/test/process"
	"drawbridge/test/wire"
)

var slowClients = figure{
	number: 13, name: "slow connections",
	conditions: [3]string{
		"300 connections from 30 addresses in each of 3 modes: a head, a body and an answer of a byte now and then; 40 calls/s in 1 window of 1 s with them, and in 1 without",
		"10,000 connections at a time from 100 addresses in each of 3 modes: a head, a body and an answer of a byte now and then; 200 calls/s in 3 windows of 8 s with them, by turns with 3 without",
		"10,000 connections at a time from 100 addresses in each of 3 modes: a head, a body and an answer of a byte now and then; 200 calls/s in 10 windows of 30 s with them, by turns with 10 without",
	},
	run: runSlowClients,
}

// runSlowClients measures the calls of others while each kind of slow connection is there, by turns with while it is not. What the gateway closes
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
	length := by(s, [3]time.Duration{time.Second, 8 * time.Second, 30 * time.Second})
	passed := func(d time.Duration) func() bool {
		end := time.Now().Add(d)
		return func() bool { return !time.Now().Before(end) }
	}
	if _, _, err := o.call(ctx, passed(length)); err != nil { // all is warm
		return nil, err
	}
	for _, mode := range slowModes {
		var ratios, straight, well, hurt, coming []float64
		var comingFailed, comingMade, failed, made int
		var opened []string
		words, rss := "", 0.0
		for range windows {
			calm, calmStraight, err := o.call(ctx, passed(length))
			if err != nil {
				return nil, err
			}
			if err := process.ClearPeak(g.child.PID()); err != nil {
				return nil, err
			}
			c, err := s.crowd(ctx, g.host, mode.name, connections)
			if err != nil {
				return nil, err
			}
			late := passed(30 * time.Second)
			come, _, err := o.call(ctx, func() bool { return c.counts().peak >= connections*95/100 || late() })
			if err != nil {
				return nil, errors.Join(err, c.child.Stop())
			}
			meanwhile, meanwhileStraight, err := o.call(ctx, passed(length))
			counts := c.counts()
			usage, usageErr := g.child.Usage()
			if err := errors.Join(err, usageErr, c.child.Stop()); err != nil {
				return nil, err
			}
			rss = max(rss, float64(usage.PeakRSS)/(1<<20))
			opened = append(opened, fmt.Sprintf("%d, opened %d times", counts.open, counts.again))
			words = orNothing("; ", meanwhile.failures())
			failed, made = failed+meanwhile.failed, made+meanwhile.made
			comingFailed, comingMade, coming = comingFailed+come.failed, comingMade+come.made, append(coming, float64(come.quantile(0.99))/1e6)
			well, hurt = append(well, float64(calm.quantile(0.99))/1e6), append(hurt, float64(meanwhile.quantile(0.99))/1e6)
			ratios = append(ratios, float64(meanwhile.quantile(0.99))/float64(max(1, calm.quantile(0.99))))
			straight = append(straight, float64(meanwhileStraight.quantile(0.99))/float64(max(1, calmStraight.quantile(0.99))))
		}
		ratio, least, most := median(ratios)
		control, controlLeast, controlMost := median(straight)
		calm, _, _ := median(well)
		meanwhile, _, _ := median(hurt)
		came, _, cameMost := median(coming)
		rows = append(rows,
			row{mode.name + ", calls of others that failed", "0", fmt.Sprintf("%d of %d, with %s%s", failed, made, strings.Join(opened, "; "), words), verdictOf(failed == 0 && made > 0)},
			row{mode.name + ", p99 of others", "<= 2 ×", fmt.Sprintf("× %.2f (%.2f to %.2f), %.1f ms, then %.1f ms", ratio, least, most, calm, meanwhile), s.timed(ratio <= 2)},
			row{mode.name + ", p99 of calls straight to the service", "", fmt.Sprintf("× %.2f (%.2f to %.2f)", control, controlLeast, controlMost), shown},
			row{mode.name + ", p99 of others as they come", "", fmt.Sprintf("%.0f ms (median), %.0f ms (most), %d of %d failed", came, cameMost, comingFailed, comingMade), shown},
			row{mode.name + ", resident memory", "<= 200 MiB", fmt.Sprintf("%.0f MiB", rss), verdictOf(rss <= 200)})
	}
	return rows, nil
}

// others are the callers that have nothing to do with it.
type others struct {
	host, service string
	rate          int // calls a second
}

// call makes calls, and as many to the service itself, until it is time.
func (o *others) call(ctx context.Context, until func() bool) (calls, straight *tally, err error) {
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
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+o.service+"/things/a", nil)
		if err != nil {
			return err
		}
		resp, err := direct.Do(req)
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, resp.Body)
		return errors.Join(err, resp.Body.Close())
	})
	for !until() && err == nil {
		if !pause(ctx, 10*time.Millisecond) {
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
		pause(ctx, 900*time.Millisecond)
	}
}
