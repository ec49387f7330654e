package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"drawbridge/test/faultnet"
	"drawbridge/test/openload"
	"drawbridge/test/process"
)

// slowModes are the ways to be slow on purpose.
var slowModes = []struct {
	name string
	slow func(ctx context.Context, conn net.Conn, began func())
}{{"head", slowHead}, {"body", slowBody}, {"answer", slowAnswer}}

// attack is a crowd in a process of its own. Its goroutines and collections are not in the way of the calls that are measured, and it has the
// processors that others leave: an attacker has a machine of his own.
type attack struct{ child *process.Child }

// crowd starts an attack.
func (s *suite) crowd(ctx context.Context, host, mode string, connections int) (*attack, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	child, err := process.Start(ctx, "nice", "-n", "19", program, "-crowd", mode+" "+host+" "+strconv.Itoa(connections))
	if err != nil {
		return nil, err
	}
	return &attack{child}, nil
}

// crowdCounts is what a crowd tells of itself, a line at a time.
type crowdCounts struct{ open, again int }

// counts are the last that it told.
func (a *attack) counts() (n crowdCounts) {
	text := a.child.Log()
	text = text[:strings.LastIndexByte(text, '\n')+1]
	line := strings.TrimSuffix(text, "\n")
	_, _ = fmt.Sscan(line[strings.LastIndexByte(line, '\n')+1:], &n.open, &n.again) // before the first they are 0
	return n
}

// beCrowd is the attack's process: what is "mode host connections".
func beCrowd(ctx context.Context, what string, out io.Writer) error {
	var mode, host string
	var connections int
	if _, err := fmt.Sscan(what, &mode, &host, &connections); err != nil {
		return fmt.Errorf("-crowd: %w", err)
	}
	for _, m := range slowModes {
		if m.name != mode {
			continue
		}
		c := newCrowd(ctx, host, connections, m.slow)
		for openload.Pause(ctx, 50*time.Millisecond) {
			fmt.Fprintln(out, c.open.Load(), c.again.Load())
		}
		c.stop()
		return nil
	}
	return fmt.Errorf("-crowd: there is no mode %q", mode)
}

// crowd is many connections. When one is closed another is opened, by one of those who wait: who was closed does so for a second. One counts as open
// from when it is slow: its head or body has begun, or its answer.
type crowd struct {
	cancel      context.CancelFunc
	ended       sync.WaitGroup
	open, again atomic.Int64
}

func newCrowd(ctx context.Context, host string, connections int, slow func(context.Context, net.Conn, func())) *crowd {
	ctx, cancel := context.WithCancel(ctx)
	c := &crowd{cancel: cancel}
	dialing, room := make(chan struct{}, 64), make(chan struct{}, connections)
	for n := range connections + connections/4 {
		c.ended.Go(func() {
			for ctx.Err() == nil {
				for _, place := range []chan struct{}{room, dialing} {
					select {
					case place <- struct{}{}:
					case <-ctx.Done():
						return
					}
				}
				d := net.Dialer{Timeout: 5 * time.Second, LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 2, byte(1+n%100))}, Control: faultnet.Narrow}
				conn, err := d.DialContext(ctx, "tcp", host)
				<-dialing
				if err == nil {
					c.again.Add(1)
					began := false
					stop := context.AfterFunc(ctx, func() { conn.Close() })
					slow(ctx, conn, func() {
						began = true
						c.open.Add(1)
					})
					stop()
					conn.Close()
					if began {
						c.open.Add(-1)
					}
				}
				<-room
				openload.Pause(ctx, time.Second) // an attacker has limits too
			}
		})
	}
	return c
}

func (c *crowd) stop() {
	c.cancel()
	c.ended.Wait()
}
