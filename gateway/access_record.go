package gateway

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"sync"

	"drawbridge/gateway/widening"
)

// accessRecord keeps what the configuration in use allows in server.state_dir, for the next start. A directory that hangs or is full keeps nothing from
// being served. All methods of a nil accessRecord do nothing. It is safe for concurrent use.
type accessRecord struct {
	files   []string // copies of one record
	log     *slog.Logger
	survive func(what string, step func()) (panicked bool)
	last    *widening.Summary // of the run before; nil: none is known

	mu      sync.Mutex
	pending *widening.Summary
	wake    chan struct{} // one place
}

// newAccessRecord returns nil without a directory. It touches nothing.
func newAccessRecord(o *Options, log *slog.Logger, survive func(what string, step func()) (panicked bool)) *accessRecord {
	r := &accessRecord{log: log, survive: survive, wake: make(chan struct{}, 1)}
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
		s, err := patient(context.Background(), r.survive, startPatience, func() (*widening.Summary, error) { return widening.ReadRecord(file) })
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
	r.pending = s
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

func (r *accessRecord) write() {
	r.mu.Lock()
	s := r.pending
	r.pending = nil
	r.mu.Unlock()
	if s == nil {
		return
	}
	for _, file := range r.files {
		_, err := patient(context.Background(), r.survive, endPatience, func() (struct{}, error) { return struct{}{}, s.Write(file) })
		if err != nil {
			r.log.Warn("what the configuration allows can't be recorded, so the next start is compared with an earlier one, or with none", "file", file, "error", err)
		}
	}
}
