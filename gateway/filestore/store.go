package filestore

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Limits bound what is stored. They are positive.
type Limits struct {
	TTL     time.Duration // how long a file is kept
	MaxSize int64         // of one file, in bytes
	Quota   int64         // of all files of a principal, in bytes
	Total   int64         // of all files, in bytes
}

// Options are the dependencies of a [Store].
type Options struct {
	// Dir is the directory. Processes may share one, if they have the same secrets; quotas then count what others wrote until the last
	// sweep.
	Dir     string
	Secrets [][]byte // the keys are derived from them: the first seals, all open
	Limits  Limits
	Logger  *slog.Logger
	// Metrics is where the store registers its metrics.
	Metrics prometheus.Registerer
}

// Store keeps files. It is safe for concurrent use.
type Store struct {
	dir    string
	limits Limits
	log    *slog.Logger
	stored *prometheus.CounterVec // by outcome
	keys   atomic.Pointer[[]key]

	mu     sync.Mutex
	used   map[string]int64   // bytes by folder, with those that are being written
	files  int                // that are complete
	total  int64              // of used
	writes map[string]*Writer // that are open, by the name of their temporary file
	failed bool               // the last sweep
}

// New returns a store. It touches no disk before [Store.Run]. The error is that of secrets that can't be used.
func New(o Options) (*Store, error) {
	s := &Store{
		dir: o.Dir, limits: o.Limits, log: o.Logger, used: map[string]int64{}, writes: map[string]*Writer{},
		stored: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "drawbridge_files_stored_total",
			Help: "Files by outcome: ok if they were stored, else why not (too_large, quota, full, disk), or aborted if their source broke off."}, []string{"outcome"}),
	}
	for _, outcome := range []string{"ok", "aborted", string(TooLarge), string(Quota), string(Full), string(Disk)} {
		s.stored.WithLabelValues(outcome)
	}
	gauge := func(name, help string, value func() float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 {
			s.mu.Lock()
			defer s.mu.Unlock()
			return value()
		})
	}
	o.Metrics.MustRegister(s.stored,
		gauge("drawbridge_files", "Files that are stored.", func() float64 { return float64(s.files) }),
		gauge("drawbridge_files_bytes", "Bytes of files that are stored or being written.", func() float64 { return float64(s.total) }))
	return s, s.Rekey(o.Secrets)
}

// Rekey replaces the secrets: the first seals from now on, all open. If there is an error, nothing changes.
func (s *Store) Rekey(secrets [][]byte) error {
	keys, err := newKeys(secrets)
	if err == nil {
		s.keys.Store(&keys)
	}
	return err
}

// TTL returns how long files are kept.
func (s *Store) TTL() time.Duration { return s.limits.TTL }

// MaxSize returns the maximum size of a file in bytes.
func (s *Store) MaxSize() int64 { return s.limits.MaxSize }

// sweepInterval is the time between two sweeps, and so how long a file may stay on disk after its lifetime. It does not open any more then.
const sweepInterval = time.Minute

// Run removes expired and abandoned files until ctx ends, first those of an earlier process.
func (s *Store) Run(ctx context.Context) {
	tick := time.NewTicker(sweepInterval)
	defer tick.Stop()
	for {
		s.Sweep(time.Now())
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (s *Store) path(folder, name string) string { return filepath.Join(s.dir, folder, name) }

// reserve counts n more bytes of a file, unless that exceeds a limit.
func (s *Store) reserve(w *Writer, n int64) *Error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.used[w.folder]+n > s.limits.Quota:
		return s.limit(Quota, s.limits.Quota)
	case s.total+n > s.limits.Total:
		return s.limit(Full, s.limits.Total)
	}
	s.count(w.folder, n)
	w.size += n
	return nil
}

// count adds n bytes to those of a folder. The caller holds s.mu.
func (s *Store) count(folder string, n int64) {
	s.total += n
	if s.used[folder] += n; s.used[folder] <= 0 {
		delete(s.used, folder)
	}
}

func (s *Store) limit(kind Kind, limit int64) *Error {
	return &Error{Kind: kind, Limit: limit, TTL: s.limits.TTL}
}

func (s *Store) disk(err error) *Error { return &Error{Kind: Disk, TTL: s.limits.TTL, Err: err} }

// remove removes a file, which may be gone.
func remove(path string) { _ = os.Remove(path) } // the next sweep tries again
