package main

import (
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// progress shows on a terminal that a command is still running, from its second second on.
type progress struct {
	w         io.Writer // nil if not on a terminal
	done, all atomic.Int64
	quit      chan struct{}
	running   sync.WaitGroup
	once      sync.Once
}

// newProgress starts the display on standard error, if that is a terminal. It must be ended by
// stop.
func newProgress(stderr io.Writer) *progress {
	p := &progress{quit: make(chan struct{})}
	if f := terminalOf(stderr); f != nil {
		p.w = f
		p.running.Go(func() { p.run(time.NewTicker(time.Second)) })
	}
	return p
}

// loaded implements gateway.Options.Progress.
func (p *progress) loaded(done, all int) {
	p.all.Store(int64(all))
	for old := p.done.Load(); old < int64(done) && !p.done.CompareAndSwap(old, int64(done)); old = p.done.Load() {
	}
}

func (p *progress) run(tick *time.Ticker) {
	defer tick.Stop()
	for seconds := 1; ; seconds++ {
		select {
		case <-p.quit:
			if seconds > 1 {
				fmt.Fprint(p.w, "\r\x1b[K")
			}
			return
		case <-tick.C:
			switch done, all := p.done.Load(), p.all.Load(); {
			case all > 0 && done == all:
				fmt.Fprintf(p.w, "\r\x1b[Kcompiling the checks of arguments … %d s", seconds)
			default:
				fmt.Fprintf(p.w, "\r\x1b[Kreading documents, %d done … %d s", done, seconds)
			}
		}
	}
}

// stop clears the line and returns when nothing will be written any more. It may be called again.
func (p *progress) stop() {
	p.once.Do(func() { close(p.quit) })
	p.running.Wait()
}
