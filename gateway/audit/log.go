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

	"drawbridge/gateway/signal"
)

// Subject determines how a line identifies the caller.
type Subject int

// Values of [Subject].
const (
	HashedSubject Subject = iota
	PlainSubject
	NoSubject
)

// Options configure a [Log].
type Options struct {
	// Path is the file; if "", lines are written to Output.
	Path   string
	Output io.Writer
	// Key is the key of the hashes. If empty, a random one is used.
	Key []byte
	// Subject determines how callers are identified.
	Subject Subject
	// NoDigest omits the hash of arguments.
	NoDigest bool
	// Fields are JSON Pointers to the arguments that are logged, at most 16 of at most 256 bytes.
	Fields []string
	// NoRefusals disables [Log.Refuse].
	NoRefusals bool
	// Drop loses lines instead of blocking calls.
	Drop bool
	// Buffer is the number of lines that may be pending before calls block, or lines are lost. The
	// default is 8192.
	Buffer int
	// Replica is the name of the process.
	Replica string
	// Logger receives changes of whether lines can be written. It may be nil.
	Logger *slog.Logger
	// Metrics registers the log's metrics. It may be nil.
	Metrics prometheus.Registerer
}

const (
	defaultBuffer = 8192
	// gatherTime is the minimum time between two writes, which batches lines. Under load a write
	// for each line would cost more than the line. After a pause the first line is written at once.
	gatherTime = 5 * time.Millisecond
	// roomWait is the time that a call waits for space in the buffer.
	roomWait = time.Second
	// flushTime is the time limit for writing the lines of the last calls.
	flushTime = 5 * time.Second
	// Delays between two attempts to write. The last one is short, since no call is made meanwhile.
	firstPause, lastPause = 50 * time.Millisecond, time.Second
	// maxBatch is the maximum size of a buffer that is reused.
	maxBatch = 1 << 20
)

// ErrFull is returned for calls for whose lines the buffer has no space.
var ErrFull = errors.New("the audit log can't be written as fast as calls come, or not at all")

// Log is an audit log. Its methods are safe for concurrent use; Run is called once.
type Log struct {
	o       Options
	hashes  *hashes
	out     output
	log     *slog.Logger
	metrics metrics

	// Signals to the writing goroutine.
	wake   chan struct{} // there are lines, refusals that are counted, or a request to reopen
	reopen chan struct{} // the file is to be reopened
	hurry  chan struct{} // half of the buffer is full

	mu      sync.Mutex
	pending []byte        // whole lines that are not being written yet
	lines   int           // in pending, and in the current write
	failure error         // of the last attempt to write; nil if it succeeded
	since   time.Time     // of the last change between failing and not
	room    chan struct{} // closed and replaced when lines were written or a write failed

	refusedMu sync.Mutex
	refused   refusals
}

// New opens the log. It starts no goroutine; the error is about the file.
func New(o Options) (*Log, error) {
	o.Buffer = cmp.Or(o.Buffer, defaultBuffer)
	if len(o.Key) == 0 {
		o.Key = make([]byte, 32)
		rand.Read(o.Key) // never fails (crypto/rand)
	}
	l := &Log{
		o: o, hashes: newHashes(o.Key), out: output{path: o.Path, stream: o.Output}, log: o.Logger,
		since: time.Now(), wake: make(chan struct{}, 1), hurry: make(chan struct{}, 1), reopen: make(chan struct{}, 1), room: make(chan struct{}),
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

// Shows reports whether lines contain arguments.
func (l *Log) Shows() bool { return len(l.o.Fields) > 0 }

// Ready waits until the buffer has space for the line of a new call, for a second at most. The
// error is [ErrFull], or that of ctx. While lines can't be written at all, it returns ErrFull at
// once, however much space there is. If lines may be dropped, it returns nil at once.
func (l *Log) Ready(ctx context.Context) error {
	l.mu.Lock()
	if l.o.Drop || l.failure == nil && l.lines < l.o.Buffer {
		l.mu.Unlock()
		return nil
	}
	l.mu.Unlock()
	return l.await(ctx)
}

func (l *Log) await(ctx context.Context) error {
	timer := time.NewTimer(roomWait)
	defer timer.Stop()
	for {
		l.mu.Lock()
		room, failing := l.room, l.failure != nil
		full := l.lines >= l.o.Buffer
		l.mu.Unlock()
		switch {
		case failing:
			return ErrFull
		case !full:
			return nil
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

// Status is whether lines can be written.
type Status struct {
	// Error is that of the last attempt to write; nil if it succeeded. An output that is only slow has none.
	Error error
	// Since is the time of the last change between failing and not.
	Since time.Time
	// Pending is the number of lines that wait to be written.
	Pending int
	// Refuses reports that no call is made for that error. If lines may be dropped, calls are made all the same.
	Refuses bool
}

// Status returns whether lines can be written.
func (l *Log) Status() Status {
	l.mu.Lock()
	defer l.mu.Unlock()
	return Status{Error: l.failure, Since: l.since, Pending: l.lines, Refuses: l.failure != nil && !l.o.Drop}
}

// Refuses reports whether no call is made, because lines can't be written at all.
func (l *Log) Refuses() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failure != nil && !l.o.Drop
}

// linePool holds buffers in which lines are formatted.
var linePool = sync.Pool{New: func() any { b := make([]byte, 0, 1024); return &b }}

// Write appends the line of a call to the buffer. It never blocks: a call that was made has its
// line even if the buffer is full, unless lines may be dropped. If the buffer is full, the line of
// a call that sent no request and used no cached response is dropped and counted in any case,
// because clients can cause any number of these and they do not wait in Ready.
func (l *Log) Write(line *Line) { l.put(line, line.sent()) }

// put appends a line to the buffer. A required line is appended even if the buffer is full, unless
// lines may be dropped.
func (l *Log) put(line *Line, required bool) {
	b := linePool.Get().(*[]byte) //nolint:errcheck // nothing else is in it
	*b = line.append((*b)[:0], &l.o, l.hashes)
	l.mu.Lock()
	if l.lines >= l.o.Buffer && (l.o.Drop || !required) {
		l.mu.Unlock()
		l.metrics.dropped(line).Inc()
	} else {
		first := len(l.pending) == 0
		l.pending = append(l.pending, *b...)
		l.lines++
		half := l.lines >= (l.o.Buffer+1)/2
		l.mu.Unlock()
		if first {
			signal.Raise(l.wake)
		}
		if half {
			signal.Raise(l.hurry)
		}
	}
	linePool.Put(b)
}

// Reopen reopens the file before the next line is written.
func (l *Log) Reopen() {
	signal.Raise(l.reopen)
	signal.Raise(l.wake)
}

// Run writes lines until ctx ends, then the remaining ones, and closes the file. The error reports
// lines that were lost at the end.
func (l *Log) Run(ctx context.Context) error {
	defer l.out.close()
	for l.runRecovering(ctx) {
		select {
		case <-ctx.Done():
		case <-time.After(firstPause):
		}
	}
	l.writeCounts(true)
	return l.flush(nil)
}

// runRecovering writes lines until ctx ends, or until a panic, which it recovers and reports. The
// lines that were being written then are lost, and counted: they may be its cause.
func (l *Log) runRecovering(ctx context.Context) (panicked bool) {
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
		l.metrics.droppedSent.Add(float64(lost)) // some of them may be
		l.log.Error("panic while writing the audit log", "error", fmt.Errorf("panic: %v", v), "lines_lost", lost, "stack", string(debug.Stack()))
		panicked = ctx.Err() == nil
	}()
	var batch []byte
	var last time.Time
	due := time.NewTimer(0) // set by refusalsDue
	defer due.Stop()
	for {
		l.gather(ctx, last)
		l.reopenIfRequested(ctx)
		l.writeCounts(false)
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

// gather waits until gatherTime has passed since the last write, unless calls may soon wait for
// space.
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

// reopenIfRequested reopens the file if that was requested, and retries until that succeeds or ctx
// ends: no line comes that would find it again, since no call is made meanwhile.
func (l *Log) reopenIfRequested(ctx context.Context) {
	select {
	case <-l.reopen:
		l.out.close()
		l.write(ctx, nil)
	default:
	}
}

// take swaps the pending lines for an empty buffer.
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

// write writes lines, and retries until that succeeds or ctx ends. The remaining lines then go back
// to the front of the buffer. Without lines it opens the file, if it is not open.
func (l *Log) write(ctx context.Context, batch []byte) {
	pause := firstPause
	for {
		n, err := l.out.write(batch)
		l.countWritten(batch[:n])
		batch = batch[n:]
		if err == nil {
			l.recover()
			if len(batch) == 0 {
				return
			}
			continue
		}
		l.fail(err)
		select {
		case <-time.After(pause):
			pause = min(2*pause, lastPause)
		case <-l.reopen: // an operator has freed space, or changed the file
			l.out.close()
		case <-ctx.Done():
			l.mu.Lock()
			l.pending = append(bytes.Clone(batch), l.pending...)
			l.mu.Unlock()
			return
		}
	}
}

// countWritten counts whole lines that were written.
func (l *Log) countWritten(part []byte) {
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
	first := l.failure == nil
	if first {
		l.since = time.Now()
	}
	l.failure = err
	close(l.room)
	l.room = make(chan struct{})
	l.mu.Unlock()
	if first { // the rest of them are counted
		l.log.Error("the audit log can't be written", "error", err, "calls_are_refused", !l.o.Drop)
	}
}

func (l *Log) recover() {
	l.mu.Lock()
	was, since := l.failure != nil, l.since
	if was {
		l.failure, l.since = nil, time.Now()
	}
	l.mu.Unlock()
	if was {
		l.log.Info("the audit log can be written again", "after", time.Since(since))
	}
}

// flush writes the remaining lines.
func (l *Log) flush(empty []byte) error {
	ctx, cancel := context.WithTimeout(context.Background(), flushTime)
	defer cancel()
	if batch := l.take(empty); len(batch) > 0 {
		l.write(ctx, batch)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lines > 0 {
		l.metrics.droppedSent.Add(float64(l.lines)) // some of them may be
		l.log.Error("audit log lines are lost", "lines", l.lines)
		return errors.New("audit log lines are lost")
	}
	return nil
}
