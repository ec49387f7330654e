package gateway

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"sync"

	"drawbridge/gateway/diskcache"
	"drawbridge/gateway/widening"
)

// accessRecord keeps what the configuration in use allows in server.state_dir, for the next start. A directory that hangs or is full keeps nothing from
// being served. All methods of a nil accessRecord do nothing. It is safe for concurrent use.
type accessRecord struct {
	files   []string // copies of one record
	log     *slog.Logger
	survive func(what string, step func()) (panicked bool)
	put     func(s *widening.Summary, file string) error
	last    *widening.Summary // of the run before; nil: none is known
	wake    chan struct{}     // one place

	mu      sync.Mutex
	noted   int               // counts what is noted
	newest  *widening.Summary // the last of it
	writers map[string]*recordWriter
}

// recordWriter writes to one file, one record after the other: a write that hangs can't be given up, and would replace a newer record when it goes on.
type recordWriter struct {
	written int           // as noted counts: what is written, or being written
	ended   chan struct{} // closed when all is written that was noted; nil: nothing is being written
	err     error         // of the last write
}

// newAccessRecord returns nil without a directory. It touches nothing.
func newAccessRecord(o *Options, log *slog.Logger, survive func(what string, step func()) (panicked bool)) *accessRecord {
	r := &accessRecord{log: log, survive: survive, put: (*widening.Summary).Write, wake: make(chan struct{}, 1), writers: map[string]*recordWriter{}}
	for _, dir := range append([]string{o.Config.Server.StateDir.String()}, o.StateDirs...) {
		if dir == "" {
			continue
		}
		if file := widening.RecordFile(dir, o.ConfigFile); !slices.Contains(r.files, file) {
			r.files = append(r.files, file)
		}
	}
	if len(r.files) == 0 {
		return nil
	}
	return r
}

// read returns the first record that is there; nil if there is none.
func (r *accessRecord) read() (*widening.Summary, error) {
	for _, file := range r.files {
		s, err := diskcache.Within(context.Background(), r.survive, diskcache.ReadTimeout, func() (*widening.Summary, error) { return widening.ReadRecord(file) })
		switch {
		case err == nil:
			r.last = s
			return s, nil
		case !errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("the record of the last configuration that ran, %s, can't be read: %w", file, err)
		}
	}
	return nil, nil //nolint:nilnil // none is kept
}

// before returns what the configuration of the run before allowed; nil: that is not known.
func (r *accessRecord) before() *widening.Summary {
	if r == nil {
		return nil
	}
	return r.last
}

// note has what is in use recorded. Of several that come at once the last is.
func (r *accessRecord) note(s *widening.Summary) {
	if r == nil {
		return
	}
	r.mu.Lock()
	r.noted, r.newest = r.noted+1, s
	r.mu.Unlock()
	signal(r.wake)
}

// run writes what is noted until ctx ends, and what is left then.
func (r *accessRecord) run(ctx context.Context) {
	for {
		select {
		case <-r.wake:
			r.write()
		case <-ctx.Done():
			r.write()
			return
		}
	}
}

// write has what was noted last in all files, or gives up to wait for that.
func (r *accessRecord) write() {
	ctx, cancel := context.WithTimeout(context.Background(), diskcache.EndTimeout)
	defer cancel()
	writers := make([]*recordWriter, len(r.files))
	ends := make([]<-chan struct{}, len(r.files))
	for i, file := range r.files {
		writers[i], ends[i] = r.begin(file)
	}
	for i, file := range r.files {
		if ends[i] == nil {
			continue
		}
		select {
		case <-ends[i]:
		case <-ctx.Done():
		}
		var err error
		select {
		case <-ends[i]: // also if there is no time left because another file took it
			r.mu.Lock()
			err = writers[i].err
			r.mu.Unlock()
		default:
			err = fmt.Errorf("it can't be written within %s; server.state_dir seems to hang", diskcache.EndTimeout)
		}
		if err != nil {
			r.log.Warn("what the configuration allows can't be recorded, so the next start is compared with an earlier one, or with none", "file", file, "error", err)
		}
	}
}

// begin begins to write to a file what was noted last. Where a write is under way, that goes on with it. ended is nil if it is written already.
func (r *accessRecord) begin(file string) (w *recordWriter, ended <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if w = r.writers[file]; w == nil {
		w = &recordWriter{}
		r.writers[file] = w
	}
	if w.ended == nil && w.written < r.noted {
		w.ended = make(chan struct{})
		go r.writeAll(w, file) // nobody waits for it at the end, as for all that hangs on the disk
	}
	return w, w.ended
}

// writeAll writes to a file until what was noted last is there.
func (r *accessRecord) writeAll(w *recordWriter, file string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for w.written < r.noted {
		s := r.newest
		w.written = r.noted
		r.mu.Unlock()
		err := errStepPanicked
		r.survive("what the configuration allows was recorded", func() { err = r.put(s, file) })
		r.mu.Lock()
		w.err = err
	}
	close(w.ended)
	w.ended = nil
}
