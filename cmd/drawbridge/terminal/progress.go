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
	plainInterval = 15 * time.Second
	barCells      = 20
)

// Progress shows that a command is still running: on a terminal in its status line, elsewhere by a line now and then. It
// shows nothing of what is over before a second has passed.
type Progress struct {
	screen *Screen   // nil if there is no terminal
	plain  io.Writer // gets the lines if there is none
	began  time.Time
	state  func() (step string, done, all int)

	mu        sync.Mutex
	done, all int

	quit    chan struct{}
	once    sync.Once
	running sync.WaitGroup
}

// NewProgress starts to show a step, how far it is as Count says. It must be ended by Stop.
func NewProgress(w io.Writer, step string) *Progress {
	p := &Progress{screen: Of(w), plain: w, began: time.Now(), quit: make(chan struct{})}
	p.state = func() (string, int, int) {
		p.mu.Lock()
		defer p.mu.Unlock()
		return step, p.done, p.all
	}
	p.running.Go(p.run)
	return p
}

// Watch is NewProgress for what is not told when it changes: state returns the step, and how many parts of it are done, of all;
// 0 if they are not counted.
func Watch(w io.Writer, state func() (step string, done, all int)) *Progress {
	p := &Progress{screen: Of(w), plain: w, began: time.Now(), state: state, quit: make(chan struct{})}
	p.running.Go(p.run)
	return p
}

// Count sets how many parts of the step are done, of all. Calls may come out of order: the count never falls.
func (p *Progress) Count(done, all int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done, p.all = max(p.done, done), all
}

// Stop removes the progress. Nothing is written after it has returned. It may be called again.
func (p *Progress) Stop() {
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
		step, done, all := p.state()
		counted := ""
		if all > 1 {
			counted = fmt.Sprintf(", %d of %d done", done, all)
		}
		text := fmt.Sprintf("%s%s, %d s", step, counted, int(time.Since(p.began).Seconds()))
		if p.screen == nil {
			fmt.Fprintln(p.plain, text)
			continue
		}
		p.screen.Show(string(`|/-\`[n%4]) + " " + bar(done, all) + text)
	}
}

// bar returns a picture of the parts that are done; "" if there is but one.
func bar(done, all int) string {
	if all <= 1 {
		return ""
	}
	full := min(barCells, barCells*done/all)
	return "[" + strings.Repeat("=", full) + strings.Repeat(" ", barCells-full) + "] "
}
