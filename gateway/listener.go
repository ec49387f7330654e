package gateway

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Patience with those who send slowly (H7). What a first request has is the least: by chance it is up to twice as long, so that those who came
// together, and are all slow, are not ended together, to come again together.
const (
	// HeadPatience is how long the head of a first request may take. The server gives those that follow as long (H7), and the end of service gives it what waits.
	HeadPatience = 5 * time.Second
	// bodyPatience is how long its body may stand still: as long as gateway/mcp gives one that it reads.
	bodyPatience = 10 * time.Second
	// After bodyGrace it must have come with leastPace bytes a second on the average. One that waits here costs less than its
	// answer, and its client comes again: so there is no hurry.
	bodyGrace = 30 * time.Second
	leastPace = 240
	// RestPatience is how long a connection may rest between two requests, here, after an answer that was sent outside of net/http, and in the server.
	RestPatience = 90 * time.Second
	// lastLook is how long one that has sent nothing is kept when no others are taken any more, since its request may be on its way, and how long net/http
	// may take to begin with the last that it got.
	lastLook = 100 * time.Millisecond
)

// Arrivals is a listener that hands a connection out when its first request is there, a small body with it. net/http takes some 18 KiB for each
// that it has: two buffers, and the stack of a goroutine that will serve a request. Whoever opens connections and sends a byte now and then
// would get that for nothing. Here a connection has a goroutine with a small stack, and as many bytes as it has sent.
//
// It waits, and answers plain requests (see Answer). All others are handed out as they came and read again, and answered, by net/http; so is what comes too slowly once its
// head is there.
// It is safe for concurrent use.
type Arrivals struct {
	*boundedListener
	tls        bool
	head, body time.Duration

	plain   *plain // nil: net/http answers all
	ready   chan *boundedConn
	fails   chan error
	ended   chan struct{} // closed by Close
	begin   sync.Once
	closing atomic.Bool // no more are taken

	mu      sync.Mutex
	conns   map[*boundedConn]stage // those that wait, those without an answer, and those that are answered here
	count   [stages]int            // of conns
	waiting int                    // goroutines, but for those that answer
	serving int                    // those that answer
	fewer   sync.Cond              // of mu; there are fewer of either
	taking  bool                   // take runs
	end     time.Time              // when those must be there that wait, since no more are to be taken; zero: more are
	out     chan struct{}          // closed when no more are taken, and none waits
	done    chan struct{}          // closed when none of those is without an answer
	close   sync.Once
}

// stage is what is known of a connection that waits.
type stage uint8

const (
	silent    stage = iota // it has sent nothing
	resting                // it has sent nothing since its last answer
	sending                // it has sent something
	arrived                // its request is there; it still waits, for Accept
	handedOut              // it belongs to net/http, and nothing was written to it
	served                 // its request is answered here
	stages                 // how many there are
)

func newArrivals(l *boundedListener, tls bool) *Arrivals {
	a := &Arrivals{
		boundedListener: l, tls: tls, head: HeadPatience, body: bodyPatience, ready: make(chan *boundedConn), fails: make(chan error),
		ended: make(chan struct{}), conns: make(map[*boundedConn]stage), out: make(chan struct{}), done: make(chan struct{}),
	}
	a.fewer.L = &a.mu
	return a
}

// Accept returns the next connection whose first request is there. After Drain it waits for Close.
func (a *Arrivals) Accept() (net.Conn, error) {
	a.begin.Do(func() {
		a.mu.Lock()
		a.taking = true
		a.mu.Unlock()
		if !a.goes(func(*attendant) { a.take() }) {
			a.took()
		}
	})
	select {
	case c := <-a.ready:
		return c, nil
	case err := <-a.fails:
		return nil, err
	case <-a.ended:
		return nil, net.ErrClosed
	}
}

// Drain takes no more connections, and returns when each that has sent something was handed out, and served: net/http drops what it
// reads after it was told to shut down. Those that have sent nothing are closed, and the others have HeadPatience left: calls need what time
// there is to end. It returns when ctx ends, too.
func (a *Arrivals) Drain(ctx context.Context) {
	a.closing.Store(true)
	_ = a.boundedListener.Close() // as Close tells
	a.mu.Lock()
	if a.end.IsZero() {
		a.end = time.Now().Add(HeadPatience)
		for c, s := range a.conns {
			switch s {
			case silent, resting:
				_ = c.SetReadDeadline(time.Now().Add(lastLook))
			case sending:
				_ = c.SetReadDeadline(a.end)
			default: // nobody waits for what it sends
			}
		}
		a.left()
	}
	a.mu.Unlock()
	select {
	case <-a.out:
	case <-ctx.Done():
	case <-a.ended:
	}
	select {
	case <-a.done:
	case <-time.After(lastLook): // a call takes longer
	case <-ctx.Done():
	case <-a.ended:
	}
}

// Close ends all that was not handed out, and returns when it has ended, but for requests that are answered here: see Idle.
func (a *Arrivals) Close() error {
	err := a.boundedListener.Close()
	a.close.Do(func() {
		a.closing.Store(true)
		a.mu.Lock()
		close(a.ended)
		var waiting []*boundedConn
		for c, s := range a.conns {
			if s < arrived { // others are closed by who has them
				waiting = append(waiting, c)
			}
		}
		a.mu.Unlock()
		for _, c := range waiting {
			_ = c.Close()
		}
	})
	a.mu.Lock()
	defer a.mu.Unlock()
	for a.waiting > 0 {
		a.fewer.Wait()
	}
	return err
}

// take takes connections until the listener is closed, also after a panic.
func (a *Arrivals) take() {
	defer a.took()
	for a.all.g.survive("connections were taken", a.takeAll) {
		select {
		case <-time.After(surviveAfter):
		case <-a.ended:
			return
		}
	}
}

func (a *Arrivals) takeAll() {
	for pause := time.Duration(0); ; {
		c, err := a.boundedListener.accept()
		var fault net.Error
		switch {
		case err == nil:
			pause = 0
			a.wait(c)
			runtime.Gosched() // a flood of connections doesn't hold up the requests that are there
			continue
		case errors.Is(err, net.ErrClosed):
			return
		case !errors.As(err, &fault) || !fault.Temporary(): //nolint:staticcheck // what net/http asks, too
			select {
			case a.fails <- err:
			case <-a.ended:
			}
			return
		}
		// It is not net/http that pauses: it would take none of those whose request is there.
		pause = min(max(2*pause, 5*time.Millisecond), time.Second)
		a.all.g.log.Warn("connections can't be accepted", "error", err)
		select {
		case <-time.After(pause):
		case <-a.ended:
		}
	}
}

func (a *Arrivals) took() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.taking = false
	a.left()
}

// arrive reads the rest of a first request; false: it has not come in time, or does not come.
func (a *Arrivals) arrive(c *boundedConn) bool {
	luck := 1 + rand.Float64()
	patience := func(least time.Duration) time.Duration { return time.Duration(luck * float64(least)) }
	begin := time.Now()
	var set time.Time // until when it is waited for; Drain brings that forward
	var sends bool
	for look := (arrival{tls: a.tls}); look.wants(c.first) > len(c.first); {
		next, rests := begin.Add(patience(a.head)), c.served && len(c.first) == 0
		switch {
		case rests:
			next = begin.Add(RestPatience)
		case look.whole:
			next = time.Now().Add(patience(a.body))
			pace := begin.Add(patience(bodyGrace) + time.Duration(len(c.first))*time.Second/leastPace)
			if pace.Before(next) {
				next = pace
			}
		}
		if began := len(c.first) > 0; began != sends || !next.Equal(set) { // thousands that send a byte of a head cost little
			a.until(c, next)
			sends, set = began, next
		}
		switch err := c.fill(); {
		case err == nil && rests:
			begin = time.Now() // of the request
		case err == nil:
		case !errors.Is(err, os.ErrDeadlineExceeded), rests: // its client has left: thousands that do so together would cost as much as if they had stayed there
			return false
		case look.whole:
			c.late = true
			a.all.slow.gaveUp[ofBody].Inc()
			return true
		case len(c.first) > 0:
			a.all.slow.gaveUp[ofHead].Inc()
			return false
		default:
			a.all.slow.gaveUp[ofNothing].Inc()
			return false
		}
	}
	return true
}

// until sets when a connection must have sent more.
func (a *Arrivals) until(c *boundedConn, t time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, ok := a.conns[c]; !ok { // it was closed
		return
	}
	end := a.end
	if len(c.first) > 0 {
		a.enter(c, sending)
	} else if !end.IsZero() {
		end = time.Now().Add(lastLook)
	}
	if !end.IsZero() && end.Before(t) {
		t = end
	}
	_ = c.SetReadDeadline(t)
}

// handOut gives a connection to Accept; false: there is none any more.
func (a *Arrivals) handOut(c *boundedConn) bool {
	if !a.move(c, arrived) {
		return false
	}
	select {
	case a.ready <- c:
		a.move(c, handedOut)
		return true
	case <-a.ended:
		return false
	}
}

// move notes that a connection has come to another stage, in which it is not waited for what it sends; false: it was closed, or answered already.
func (a *Arrivals) move(c *boundedConn, to stage) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, ok := a.conns[c]; !ok {
		return false
	}
	if a.enter(c, to); to == arrived {
		_ = c.SetReadDeadline(time.Time{}) // here, since Drain sets them
	}
	a.left()
	return true
}

// enter is called with mu, when a connection comes to a stage.
func (a *Arrivals) enter(c *boundedConn, to stage) {
	was, ok := a.conns[c]
	if ok && was == to {
		return
	}
	if a.conns[c] = to; ok {
		a.counted(was, -1)
	}
	a.counted(to, 1)
}

// leave is called with mu, when a connection goes on from its stage.
func (a *Arrivals) leave(c *boundedConn) {
	if was, ok := a.conns[c]; ok {
		delete(a.conns, c)
		a.counted(was, -1)
	}
}

// counted is called with mu, when there are more or fewer connections in a stage.
func (a *Arrivals) counted(in stage, more int) {
	a.count[in] += more
	a.all.slow.stages[in].Add(int64(more))
}

// answered is called once for each connection, when its answer begins or it is closed.
func (a *Arrivals) answered(c *boundedConn) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.leave(c)
	a.left()
}

// left is called with mu, when one has gone on.
func (a *Arrivals) left() {
	if a.end.IsZero() || a.taking || len(a.conns) > a.count[handedOut]+a.count[served] {
		return
	}
	closeOnce(a.out)
	if a.count[handedOut] == 0 {
		closeOnce(a.done)
	}
}

// closeOnce is called with a lock.
func closeOnce(c chan struct{}) {
	select {
	case <-c:
	default:
		close(c)
	}
}
