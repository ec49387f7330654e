package terminal

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

const (
	// patience is how long a command may take before it shows that it is still running.
	patience = time.Second
	// frame is the time between two pictures of the progress.
	frame = 200 * time.Millisecond
	// plainInterval is the time between two lines of progress where there is no terminal: a log isn't to be filled.
	plainInterval = 10 * time.Second
	barCells      = 20
)

// Progress shows that a command is still running: on a terminal in its status line, elsewhere by a line now and then. It
// shows nothing of what is over before a second has passed. A nil Progress shows nothing.
type Progress struct {
	screen *Screen   // nil if there is no terminal
	plain  io.Writer // gets the lines if there is none
	began  time.Time

	mu        sync.Mutex
	step      string
	done, all int

	quit    chan struct{}
	once    sync.Once
	running sync.WaitGroup
}

// NewProgress starts to show a step. It must be ended by Stop.
func NewProgress(w io.Writer, step string) *Progress {
	p := &Progress{screen: Of(w), plain: w, began: time.Now(), step: step, quit: make(chan struct{})}
	p.running.Go(p.run)
	return p
}

// Step replaces the step, whose parts are not counted until Count is called.
func (p *Progress) Step(text string) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.step, p.done, p.all = text, 0, 0
}

// Count sets how many parts of the step are done, of all. Calls may come out of order: the count never falls.
func (p *Progress) Count(done, all int) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done, p.all = max(p.done, done), all
}

// Stop removes the progress. Nothing is written after it has returned. It may be called again.
func (p *Progress) Stop() {
	if p == nil {
		return
	}
	p.once.Do(func() { close(p.quit) })
	p.running.Wait()
}

func (p *Progress) run() {
	first, interval := patience, frame
	if p.screen == nil {
		first, interval = plainInterval, plainInterval
	}
	next := time.NewTimer(first)
	defer next.Stop()
	for n := 0; ; n++ {
		select {
		case <-p.quit:
			if p.screen != nil && n > 0 {
				p.screen.Show("")
			}
			return
		case <-next.C:
			next.Reset(interval)
		}
		if p.screen == nil {
			fmt.Fprintln(p.plain, p.text(time.Since(p.began)))
			continue
		}
		p.screen.Show(string(`|/-\`[n%4]) + " " + p.bar() + p.text(time.Since(p.began)))
	}
}

// text tells the step, how far it is and since when.
func (p *Progress) text(since time.Duration) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	counted := ""
	if p.all > 1 {
		counted = fmt.Sprintf(", %d of %d done", p.done, p.all)
	}
	return fmt.Sprintf("%s%s, %d s", p.step, counted, int(since.Seconds()))
}

// bar returns a picture of the parts that are done; "" if they are not counted.
func (p *Progress) bar() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.all <= 1 {
		return ""
	}
	full := min(barCells, barCells*p.done/p.all)
	return "[" + strings.Repeat("=", full) + strings.Repeat(" ", barCells-full) + "] "
}
