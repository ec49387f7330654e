package audit

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Subject is how a line names the caller.
type Subject int

// The values of [Subject].
const (
	HashedSubject Subject = iota
	PlainSubject
	NoSubject
)

// Options are what a [Log] is made of.
type Options struct {
	// Path is the file; "": lines go to Output.
	Path   string
	Output io.Writer
	// Key keys the hashes. Empty: a random one.
	Key []byte
	// Subject is how callers are named.
	Subject Subject
	// NoDigest leaves out the hash of arguments.
	NoDigest bool
	// Fields are JSON Pointers to the arguments that are shown, at most 16 of at most 256 bytes.
	Fields []string
	// NoRefusals leaves out what [Log.Refuse] is told.
	NoRefusals bool
	// Drop loses lines instead of having calls wait.
	Drop bool
	// Buffer is how many lines may wait to be written before calls wait, or lines are lost. Default 8192.
	Buffer int
	// Replica names the process.
	Replica string
	// Logger is told when lines can't be written, and when they can again. Nil: nobody is.
	Logger *slog.Logger
	// Metrics is where the log's metrics are registered. Nil: nowhere.
	Metrics prometheus.Registerer
}

const (
	defaultBuffer = 8192
	// gatherTime is the least time between the beginnings of two writes: what comes in between goes out in one. Under load a write for
	// each line would cost more than the line. After a pause the first line is written at once.
	gatherTime = 5 * time.Millisecond
	// patience is how long a call waits for room.
	patience = time.Second
	// flushTime is how long the lines of the last calls may take to be written.
	flushTime = 5 * time.Second
	// Pauses between two attempts to write.
	firstPause, lastPause = 50 * time.Millisecond, 5 * time.Second
	// maxBatch is the largest buffer that is kept for the next lines.
	maxBatch = 1 << 20
)

// ErrFull is returned to calls for whose lines there is no room.
var ErrFull = errors.New("the audit log can't be written as fast as calls come, or not at all")

// Log is an audit log. Its methods are safe for concurrent use; Run is called once.
type Log struct {
	o       Options
	hashes  *hashes
	out     output
	log     *slog.Logger
	metrics metrics

	wake   chan struct{}
	reopen chan struct{}
	hurry  chan struct{} // half of the buffer is full

	mu      sync.Mutex
	pending []byte // whole lines that nobody has begun to write
	lines   int    // in pending, and in what is being written
	failing bool   // the last attempt to write failed
	room    chan struct{}

	refusedMu sync.Mutex
	refused   refusals
}

// New opens the log. It starts nothing; the error is about the file.
func New(o Options) (*Log, error) {
	o.Buffer = cmp.Or(o.Buffer, defaultBuffer)
	if len(o.Key) == 0 {
		o.Key = make([]byte, 32)
		rand.Read(o.Key) // never fails (crypto/rand)
	}
	l := &Log{
		o: o, hashes: newHashes(o.Key), out: output{path: o.Path, stream: o.Output}, log: o.Logger,
		wake: make(chan struct{}, 1), hurry: make(chan struct{}, 1), reopen: make(chan struct{}, 1), room: make(chan struct{}),
	}
	if l.log == nil {
		l.log = slog.New(slog.DiscardHandler)
	}
	if err := l.out.open(); err != nil {
		return nil, err
	}
	l.metrics = newMetrics(o.Metrics, l)
	return l, nil
}

// Shows tells whether lines show arguments.
func (l *Log) Shows() bool { return len(l.o.Fields) > 0 }

// Ready waits until there is room for the line of a call that is about to be made, for a second at most. The error is [ErrFull],
// or that of ctx. While lines can't be written at all, nobody waits who finds no room. It is nil at once where lines are dropped.
func (l *Log) Ready(ctx context.Context) error {
	l.mu.Lock()
	if l.o.Drop || l.lines < l.o.Buffer {
		l.mu.Unlock()
		return nil
	}
	l.mu.Unlock()
	return l.await(ctx)
}

func (l *Log) await(ctx context.Context) error {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for {
		l.mu.Lock()
		room, failing := l.room, l.failing
		full := l.lines >= l.o.Buffer
		l.mu.Unlock()
		switch {
		case !full:
			return nil
		case failing:
			return ErrFull
		}
		select {
		case <-room:
		case <-timer.C:
			return ErrFull
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// lineRoom is where a line is made before it goes into the buffer.
var lineRoom = sync.Pool{New: func() any { b := make([]byte, 0, 1024); return &b }}

// Write puts the line of a call into the buffer. It never waits: a call that was made has its line, whatever the buffer holds,
// but where lines are dropped. When there is no room, the line of a call that asked no service, and told nothing, is dropped and
// counted in any case: as many of these come as callers send, and nobody waits for room before them.
func (l *Log) Write(line *Line) { l.put(line, line.Requests > 0 || line.Cache != "") }

// put puts a line into the buffer. One that matters is there also when there is no room, but where lines are dropped.
func (l *Log) put(line *Line, matters bool) {
	b := lineRoom.Get().(*[]byte) //nolint:errcheck // nothing else is in it
	*b = line.append((*b)[:0], &l.o, l.hashes)
	l.mu.Lock()
	if l.lines >= l.o.Buffer && (l.o.Drop || !matters) {
		l.mu.Unlock()
		l.metrics.dropped.Inc()
	} else {
		first := len(l.pending) == 0
		l.pending = append(l.pending, *b...)
		l.lines++
		half := l.lines >= (l.o.Buffer+1)/2
		l.mu.Unlock()
		if first {
			signal(l.wake)
		}
		if half {
			signal(l.hurry)
		}
	}
	lineRoom.Put(b)
}

// Reopen has the file opened anew before the next line is written.
func (l *Log) Reopen() {
	signal(l.reopen)
	signal(l.wake)
}

// Run writes lines until ctx ends, then those that are left, and closes the file. The error tells lines that were lost at the
// end.
func (l *Log) Run(ctx context.Context) error {
	defer l.out.close()
	for l.goOn(ctx) {
		select {
		case <-ctx.Done():
		case <-time.After(firstPause):
		}
	}
	l.sum(true)
	return l.flush(nil)
}

// goOn writes lines until ctx ends, or, true, a panic, which would take the process with it. The lines that were being written then
// are lost, and counted: they may be what it came from.
func (l *Log) goOn(ctx context.Context) (panicked bool) {
	defer func() {
		v := recover()
		if v == nil {
			return
		}
		l.mu.Lock()
		waiting := bytes.Count(l.pending, []byte{'\n'})
		lost := l.lines - waiting
		l.lines = waiting
		l.mu.Unlock()
		l.metrics.dropped.Add(float64(lost))
		l.log.Error("panic while the audit log was written", "error", fmt.Errorf("panic: %v", v), "lines_lost", lost, "stack", string(debug.Stack()))
		panicked = ctx.Err() == nil
	}()
	var batch []byte
	var last time.Time
	due := time.NewTimer(0) // refusalsDue sets it
	defer due.Stop()
	for {
		l.gather(ctx, last)
		l.look()
		l.sum(false)
		batch = l.take(batch)
		if len(batch) > 0 {
			last = time.Now()
			l.write(ctx, batch)
		}
		if ctx.Err() != nil {
			return false
		}
		select {
		case <-l.wake:
		case <-l.refusalsDue(due):
		case <-ctx.Done():
		}
	}
}

// gather waits until gatherTime has passed since the last write. It does not where calls may soon wait for room.
func (l *Log) gather(ctx context.Context, last time.Time) {
	wait := gatherTime - time.Since(last)
	if wait <= 0 {
		return
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-l.hurry:
	case <-ctx.Done():
	}
}

// look opens the file anew if that was asked for. That it can't be is found again when a line is to be written.
func (l *Log) look() {
	select {
	case <-l.reopen:
		l.out.close()
		if err := l.out.open(); err != nil {
			l.fail(err)
		}
	default:
	}
}

// take swaps the lines that wait for an empty buffer.
func (l *Log) take(empty []byte) []byte {
	if cap(empty) > maxBatch {
		empty = nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	batch := l.pending
	l.pending = empty[:0]
	return batch
}

// write writes lines, again and again until that works or ctx ends. Those that are left then go back to the front of the buffer.
func (l *Log) write(ctx context.Context, batch []byte) {
	pause := firstPause
	for len(batch) > 0 {
		n, err := l.out.write(batch)
		l.written(batch[:n])
		batch = batch[n:]
		if err == nil {
			l.recover()
			continue
		}
		l.fail(err)
		select {
		case <-time.After(pause):
			pause = min(2*pause, lastPause)
		case <-l.reopen: // an operator has made room, or another file
			l.out.close()
		case <-ctx.Done():
			l.mu.Lock()
			l.pending = append(bytes.Clone(batch), l.pending...)
			l.mu.Unlock()
			return
		}
	}
}

// written counts whole lines that were written.
func (l *Log) written(part []byte) {
	n := bytes.Count(part, []byte{'\n'})
	l.metrics.written.Add(float64(n))
	l.mu.Lock()
	l.lines -= n
	close(l.room)
	l.room = make(chan struct{})
	l.mu.Unlock()
}

func (l *Log) fail(err error) {
	l.metrics.errors.Inc()
	l.mu.Lock()
	first := !l.failing
	l.failing = true
	close(l.room)
	l.room = make(chan struct{})
	l.mu.Unlock()
	if first { // the rest of them are counted
		l.log.Error("the audit log can't be written", "error", err, "lines_are_dropped", l.o.Drop)
	}
}

func (l *Log) recover() {
	l.mu.Lock()
	was := l.failing
	l.failing = false
	l.mu.Unlock()
	if was {
		l.log.Info("the audit log is written again")
	}
}

// flush writes what is left.
func (l *Log) flush(empty []byte) error {
	ctx, cancel := context.WithTimeout(context.Background(), flushTime)
	defer cancel()
	if batch := l.take(empty); len(batch) > 0 {
		l.write(ctx, batch)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lines > 0 {
		l.metrics.dropped.Add(float64(l.lines))
		l.log.Error("lines of the audit log are lost", "lines", l.lines)
		return errors.New("lines of the audit log are lost")
	}
	return nil
}

func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
