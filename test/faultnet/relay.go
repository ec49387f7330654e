package faultnet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"time"
)

// Relay takes TCP connections for a service and passes on what its script lets through.
type Relay struct {
	listener net.Listener
	target   string
	seed     uint64
	script   func(n int, r *rand.Rand) Script

	running sync.WaitGroup
	cancel  context.CancelFunc

	mu     sync.Mutex
	open   map[io.Closer]struct{}
	taken  int
	closed bool
}

// Listen makes a relay on a loopback address of the system's choice. script is asked for each connection, which it is
// given the number of, from 0, and a source of randomness that depends on both seed and number; nil passes all on. It may be
// called from several goroutines. A service that can't be reached is a connection that is reset.
func Listen(target string, seed uint64, script func(n int, r *rand.Rand) Script) (*Relay, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("faultnet: %w", err)
	}
	if script == nil {
		script = func(int, *rand.Rand) Script { return Script{} }
	}
	ctx, cancel := context.WithCancel(context.Background())
	r := &Relay{listener: l, target: target, seed: seed, script: script, cancel: cancel, open: map[io.Closer]struct{}{}}
	r.running.Go(func() { r.accept(ctx) })
	return r, nil
}

// Addr is where the relay listens, host:port.
func (r *Relay) Addr() string { return r.listener.Addr().String() }

// Taken is how many connections have come so far.
func (r *Relay) Taken() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.taken
}

// Close ends the relay with all its connections, and returns when nothing of it runs any more.
func (r *Relay) Close() error {
	err := r.listener.Close()
	r.cancel()
	r.mu.Lock()
	r.closed = true
	for c := range r.open {
		_ = c.Close()
	}
	r.mu.Unlock()
	r.running.Wait()
	return err
}

func (r *Relay) accept(ctx context.Context) {
	for {
		conn, err := r.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // out of descriptors, say: others may be given back
			select {
			case <-ctx.Done():
				return
			case <-time.After(time.Millisecond):
			}
			continue
		}
		r.mu.Lock()
		n := r.taken
		r.taken++
		r.mu.Unlock()
		r.running.Go(func() { r.serve(ctx, conn, n) })
	}
}

// hold makes Close end c too; false: the relay is closed, and c with it.
func (r *Relay) hold(c io.Closer) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		_ = c.Close()
		return false
	}
	r.open[c] = struct{}{}
	return true
}

func (r *Relay) release(c io.Closer) {
	_ = c.Close()
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.open, c)
}

func (r *Relay) serve(ctx context.Context, client net.Conn, n int) {
	random := random(r.seed, n)
	s := r.script(n, random)
	if !r.hold(client) {
		return
	}
	defer r.release(client)
	switch s.Greeting {
	case Refuse:
		linger(client)
		return
	case BlackHole:
		<-ctx.Done()
		return
	case Alert:
		_, _ = client.Read(make([]byte, 1<<10)) // the ClientHello
		_, _ = client.Write([]byte{21, 3, 3, 0, 2, 2, 40})
		return
	case Accept:
	}
	service, err := (&net.Dialer{}).DialContext(ctx, "tcp", r.target)
	if err != nil {
		linger(client)
		return
	}
	// Each direction has randomness of its own, so that it does not depend on which of both is faster.
	up := wrap(service, s.Requests, rand.New(rand.NewPCG(random.Uint64(), 1)), client)
	down := wrap(client, s.Answers, rand.New(rand.NewPCG(random.Uint64(), 2)), up)
	up.other = down
	if !r.hold(up) {
		return
	}
	defer r.release(up)
	if !r.hold(down) {
		return
	}
	defer r.release(down)
	var answers sync.WaitGroup
	answers.Go(func() { pass(down, service, s.Answers, up) })
	pass(up, client, s.Requests, down)
	answers.Wait()
}

// pass copies one direction. What has ended by itself is passed on as it ended; where a way has its own end, that stands.
func pass(to *Conn, from io.Reader, w Way, back *Conn) {
	_, err := io.Copy(to, from)
	switch {
	case errors.Is(err, net.ErrClosed) && w.End == HalfClose:
		_, _ = io.Copy(io.Discard, from) // the other side may go on talking
	case err != nil:
		_ = to.Close()
		_ = back.Close()
	default:
		closeWrite(to)
	}
}
