package widening

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"sync"

	"drawbridge/gateway/diskcache"
	"drawbridge/gateway/signal"
)

// Recorder writes the access that the configuration in use grants to server.state_dir, for comparison at the next start.
// A directory that hangs or is full does not keep anything from being served. The methods CheckStart, Previous and Note of
// a nil Recorder do nothing. It is safe for concurrent use.
type Recorder struct {
	configFile string
	files      []string // each holds a copy of the record
	log        *slog.Logger
	protect    func(what string, step func()) (panicked bool)
	put        func(s *Summary, file string) error
	previous   *Summary      // record of the previous run; nil if there is none
	wake       chan struct{} // signals that newest changed; its capacity is 1

	mu      sync.Mutex
	noted   int      // number of calls of Note
	newest  *Summary // argument of the last call of Note
	writers map[string]*recordWriter
}

// RecorderOptions are the parameters of [NewRecorder].
type RecorderOptions struct {
	// ConfigFile is the path of the configuration file, which identifies the record.
	ConfigFile string
	// Dirs are the directories that the record is written to. Empty names are ignored.
	Dirs []string
	// Logger receives a warning for each file that can't be read or written, and for accepted access.
	Logger *slog.Logger
	// Recover runs a step of a goroutine and recovers from a panic. It reports whether there was one.
	Recover func(what string, step func()) (panicked bool)
}

// recordWriter writes records to one file, one after the other. A write that hangs can't be aborted, and in parallel it
// could replace a newer record when it continues.
type recordWriter struct {
	written int           // value of noted for the last write that was started
	ended   chan struct{} // closed when the newest record is written; nil if no write is under way
	err     error         // of the last write
}

// NewRecorder returns nil if there is no directory. It does not access the disk.
func NewRecorder(o RecorderOptions) *Recorder {
	r := &Recorder{configFile: o.ConfigFile, log: o.Logger, protect: o.Recover, put: (*Summary).Write, wake: make(chan struct{}, 1), writers: map[string]*recordWriter{}}
	for _, dir := range o.Dirs {
		if dir == "" {
			continue
		}
		if file := RecordFile(dir, o.ConfigFile); !slices.Contains(r.files, file) {
			r.files = append(r.files, file)
		}
	}
	if len(r.files) == 0 {
		return nil
	}
	return r
}

// read returns the first record that exists; nil if there is none.
func (r *Recorder) read() (*Summary, error) {
	for _, file := range r.files {
		s, err := diskcache.Within(context.Background(), r.protect, diskcache.ReadTimeout, func() (*Summary, error) { return ReadRecord(file) })
		switch {
		case err == nil:
			r.previous = s
			return s, nil
		case !errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("the record of the last configuration that ran, %s, can't be read: %w", file, err)
		}
	}
	return nil, nil //nolint:nilnil // there is no record
}

// Previous returns the access granted by the configuration of the previous run; nil before
// CheckStart has found it.
func (r *Recorder) Previous() *Summary {
	if r == nil {
		return nil
	}
	return r.previous
}

// Note schedules a record to be written. A later one replaces it if it is not written yet.
func (r *Recorder) Note(s *Summary) {
	if r == nil {
		return
	}
	r.mu.Lock()
	r.noted, r.newest = r.noted+1, s
	r.mu.Unlock()
	signal.Raise(r.wake)
}

// Run writes scheduled records until ctx ends, and then the last one.
func (r *Recorder) Run(ctx context.Context) {
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

// write writes the newest record to all files. It stops waiting after diskcache.EndTimeout.
func (r *Recorder) write() {
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
		case <-ends[i]: // also checked when another file has used up the time
			r.mu.Lock()
			err = writers[i].err
			r.mu.Unlock()
		default:
			err = fmt.Errorf("it can't be written within %s; server.state_dir seems to hang", diskcache.EndTimeout)
		}
		if err != nil {
			r.log.Warn("the access granted by the configuration can't be recorded; the next start compares with an older record, or with none", "file", file, "error", err)
		}
	}
}

// begin starts writing the newest record to a file, unless a write is under way, which continues with it. ended is nil
// if the record is already written.
func (r *Recorder) begin(file string) (w *recordWriter, ended <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if w = r.writers[file]; w == nil {
		w = &recordWriter{}
		r.writers[file] = w
	}
	if w.ended == nil && w.written < r.noted {
		w.ended = make(chan struct{})
		go r.writeAll(w, file) // not waited for at shutdown, because the disk may hang
	}
	return w, w.ended
}

// writeAll writes to a file until it holds the newest record.
func (r *Recorder) writeAll(w *recordWriter, file string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for w.written < r.noted {
		s := r.newest
		w.written = r.noted
		r.mu.Unlock()
		err := errPanicked
		r.protect("what the configuration allows was recorded", func() { err = r.put(s, file) })
		r.mu.Lock()
		w.err = err
	}
	close(w.ended)
	w.ended = nil
}

// errPanicked is the error of a write that has panicked.
var errPanicked = errors.New("internal error; the log has the cause")
