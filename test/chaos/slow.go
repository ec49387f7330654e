package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"drawbridge/test/process"
	"drawbridge/test/wire"
)

var slowClients = figure{
	number: 13, name: "slow connections",
	conditions: [3]string{
		"300 connections from 30 addresses in each of 3 modes: a head, a body and an answer of a byte now and then; 40 calls/s beside them for 1 s",
		"10,000 connections from 100 addresses in each of 3 modes: a head, a body and an answer of a byte now and then; 200 calls/s beside them for 8 s",
		"10,000 connections from 100 addresses in each of 3 modes: a head, a body and an answer of a byte now and then; 200 calls/s beside them for 100 s",
	},
	run: runSlowClients,
}

// runSlowClients measures the calls of others before, and while each kind of slow connection is there. What the gateway closes
// is opened anew at once. As they come, thousands within a second or two, they are much work, as any others would be: that time is told by itself.
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
	connections := by(s, [3]int{300, 10_000, 10_000})
	rate, window := by(s, [3]int{40, 200, 200}), by(s, [3]time.Duration{time.Second, 8 * time.Second, 100 * time.Second})
	g, err := s.serve(ctx, setup{apis: fmt.Sprintf("[{spec: %q, name: things, base_url: %q}]", spec, "http://"+upstream.host)})
	if err != nil {
		return nil, err
	}
	defer g.stopInto(&err)
	measure := func(until func() bool) (*tally, error) {
		const workers = 16
		callers := make([]*caller, workers)
		for i := range callers {
			c, err := newCaller(g.host, wire.Modern, "")
			if err != nil {
				return nil, err
			}
			defer c.close()
			c.from = net.IPv4(127, 0, 1, byte(1+i))
			callers[i] = c
		}
		l := openLoad(ctx, rate, workers, func(worker, n int) error {
			_, err := callers[worker].call("get_thing", n, `{"id":"a"}`)
			return err
		})
		for !until() {
			if !pause(ctx, 10*time.Millisecond) {
				l.stop()
				return nil, ctx.Err()
			}
		}
		return l.stop(), nil
	}
	passed := func(d time.Duration) func() bool {
		end := time.Now().Add(d)
		return func() bool { return !time.Now().Before(end) }
	}
	if _, err := measure(passed(window)); err != nil { // all is warm
		return nil, err
	}
	for _, m := range []struct {
		name string
		slow func(ctx context.Context, conn net.Conn, began func())
	}{{"head", slowHead}, {"body", slowBody}, {"answer", slowAnswer}} {
		before, err := measure(passed(window))
		if err != nil {
			return nil, err
		}
		if err := process.ClearPeak(g.child.PID()); err != nil {
			return nil, err
		}
		crowd := newCrowd(ctx, g.host, connections, m.slow)
		late := passed(30 * time.Second)
		coming, err := measure(func() bool { return crowd.peak.Load() >= int64(connections*95/100) || late() })
		if err != nil {
			crowd.stop()
			return nil, err
		}
		meanwhile, err := measure(passed(window))
		open, refused := crowd.open.Load(), crowd.again.Load()
		usage, usageErr := g.child.Usage()
		crowd.stop()
		if err := errors.Join(err, usageErr); err != nil {
			return nil, err
		}
		after, err := measure(passed(window))
		if err != nil {
			return nil, err
		}
		base := max(before.quantile(0.99), after.quantile(0.99))
		ratio := float64(meanwhile.quantile(0.99)) / float64(base)
		rss := float64(usage.PeakRSS) / (1 << 20)
		rows = append(rows,
			row{m.name + ", calls of others that failed", "0", fmt.Sprintf("%d of %d, with %d open, opened %d times%s", meanwhile.failed, meanwhile.made, open, refused, orNothing("; ", meanwhile.failures())), verdictOf(meanwhile.failed == 0)},
			row{m.name + ", p99 of others", "<= 2 ×", fmt.Sprintf("× %.2f (%s; %s before, %s after)", ratio, round(meanwhile.quantile(0.99)), round(before.quantile(0.99)), round(after.quantile(0.99))), s.timed(ratio <= 2)},
			row{m.name + ", p99 of others as they come", "–", fmt.Sprintf("%s, %d of %d failed", round(coming.quantile(0.99)), coming.failed, coming.made), shown},
			row{m.name + ", resident memory", "<= 200 MiB", fmt.Sprintf("%.0f MiB", rss), verdictOf(rss <= 200)})
	}
	return rows, nil
}

// crowd is many connections, each of which is opened again when it is closed. One counts as open from when it is slow: its head or
// body has begun, or its answer.
type crowd struct {
	cancel            context.CancelFunc
	ended             sync.WaitGroup
	open, peak, again atomic.Int64
}

func newCrowd(ctx context.Context, host string, connections int, slow func(context.Context, net.Conn, func())) *crowd {
	ctx, cancel := context.WithCancel(ctx)
	c := &crowd{cancel: cancel}
	dialing := make(chan struct{}, 64)
	for n := range connections {
		c.ended.Go(func() {
			for ctx.Err() == nil {
				select {
				case dialing <- struct{}{}:
				case <-ctx.Done():
					return
				}
				d := net.Dialer{Timeout: 5 * time.Second, LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 2, byte(1+n%100))}, Control: smallBuffer}
				conn, err := d.DialContext(ctx, "tcp", host)
				<-dialing
				if err == nil {
					c.again.Add(1)
					began := false
					stop := context.AfterFunc(ctx, func() { conn.Close() })
					slow(ctx, conn, func() {
						began = true
						c.peak.Store(max(c.peak.Load(), c.open.Add(1)))
					})
					stop()
					conn.Close()
					if began {
						c.open.Add(-1)
					}
				}
				pause(ctx, time.Second) // an attacker has limits too
			}
		})
	}
	return c
}

// smallBuffer lets an answer fill the buffers soon.
func smallBuffer(_, _ string, raw syscall.RawConn) error {
	var err error
	return errors.Join(raw.Control(func(fd uintptr) { err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 4096) }), err)
}

func (c *crowd) stop() {
	c.cancel()
	c.ended.Wait()
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
