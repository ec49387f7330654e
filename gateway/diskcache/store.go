package diskcache

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"drawbridge/gateway/localfile"
	"drawbridge/gateway/signal"
	"drawbridge/openapi"
)

const (
	suffix     = ".document"
	tempPrefix = ".writing-"
	// unnamedAge is how long the document of an API that no configuration names any more is kept.
	unnamedAge = 30 * 24 * time.Hour
	// maxUnnamed is how many of these are kept at most.
	maxUnnamed = 256
	// tempAge is the age of a temporary file whose writer must have died.
	tempAge = time.Hour
	// retryInterval is the time until a write that failed is tried again.
	retryInterval = time.Minute
	// sweepInterval is the time between searches for documents that no configuration names.
	sweepInterval = 24 * time.Hour
)

// MaxWaiting is the default of Options.MaxWaiting.
const MaxWaiting = 64 << 20

// Store keeps the last good document of each API on disk (server.state_dir, O1). Several processes may share a directory: files are
// written beside and moved, so that a reader sees a whole one, and the last writer wins. Errors are logged, and the gateway goes
// on. It is safe for concurrent use.
type Store struct {
	o       Options
	maxFile int64                  // bytes
	writes  *prometheus.CounterVec // outcome
	disk    Disk
	large   chan struct{} // has a place for each large document that is read; nil if their number is not limited

	mu      sync.Mutex
	waiting map[string]*Document // to be written, by id
	writing map[string]*Document // that are being written
	failing map[string]bool      // documents whose last write failed
	named   []string             // ids of the configuration in use
	wake    chan struct{}        // has room for one
}

// Options are the dependencies of a [Store].
type Options struct {
	// Dir is the directory, which is made when the store runs.
	Dir string
	// MaxDocument bounds the files of a document, in bytes.
	MaxDocument int64
	// MaxWaiting bounds the documents that wait to be written, or are being written, in bytes; 0 is [MaxWaiting]. Further ones are not
	// kept until they change.
	MaxWaiting int
	// LargeSize is the size from which a document is large, in bytes, and MaxLarge how many of those are read and compiled at a time; any number if 0.
	LargeSize int64
	MaxLarge  int
	Logger    *slog.Logger
	// Metrics is where the store registers its metrics.
	Metrics prometheus.Registerer
	// Pace is that of the writes; nil is full speed.
	Pace *openapi.Pace
	// Recover runs a step that touches the disk in a goroutine of its own, and reports whether it panicked.
	Recover func(what string, step func()) (panicked bool)
	// Keep runs f until it returns or ctx ends, and again after a panic.
	Keep func(ctx context.Context, what string, f func())

	// WrapDisk replaces the access to the disk, for tests; nil does not.
	WrapDisk func(Disk) Disk
	// ReadTimeout and EndTimeout replace the constants of that name, for tests; 0 does not.
	ReadTimeout, EndTimeout time.Duration
}

// Disk reads and writes the files of a store by the ids of documents.
type Disk struct {
	Read  func(id string) ([]byte, error)
	Write func(*Document) error
	Size  func(id string) (int64, error) // of the file, in bytes
}

// New returns a store. It touches nothing before [Store.Run].
func New(o Options) *Store {
	o.MaxWaiting, o.ReadTimeout, o.EndTimeout = cmp.Or(o.MaxWaiting, MaxWaiting), cmp.Or(o.ReadTimeout, ReadTimeout), cmp.Or(o.EndTimeout, EndTimeout)
	s := &Store{o: o, maxFile: o.MaxDocument + maxHead + maxLines, wake: make(chan struct{}, 1),
		waiting: map[string]*Document{}, writing: map[string]*Document{}, failing: map[string]bool{},
		writes: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "drawbridge_state_writes_total",
			Help: "Attempts to store a document in server.state_dir by outcome: ok or failed."}, []string{"outcome"}),
	}
	if s.disk = (Disk{Read: s.readFile, Write: s.writeFile, Size: s.fileSize}); o.WrapDisk != nil {
		s.disk = o.WrapDisk(s.disk)
	}
	if o.MaxLarge > 0 {
		s.large = make(chan struct{}, o.MaxLarge)
	}
	for _, outcome := range []string{"ok", "failed"} {
		s.writes.WithLabelValues(outcome)
	}
	o.Metrics.MustRegister(s.writes)
	return s
}

// ID returns the id of the document of an API, which the parts tell apart from all others. It reveals none of the secrets that a location may hold.
func ID(parts ...string) string {
	h := sha256.New()
	for _, text := range parts {
		fmt.Fprintf(h, "%d:%s", len(text), text)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// SetNamed tells the store the ids of the documents that the configuration in use names.
func (s *Store) SetNamed(ids []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.named = ids
}

// Path returns the file of a document.
func (s *Store) Path(id string) string { return filepath.Join(s.o.Dir, id+suffix) }

func (s *Store) readFile(id string) ([]byte, error) {
	f, err := localfile.Open(s.Path(id))
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // nothing was written
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case info.Size() > s.maxFile:
		return nil, fmt.Errorf("it is larger than %d MiB", s.maxFile>>20)
	}
	text := make([]byte, info.Size())
	_, err = io.ReadFull(f, text)
	return text, err
}

// readSize returns the size of the compiled document, in bytes; 0 if it is unknown.
func (s *Store) readSize(id string) int64 {
	f, err := localfile.Open(s.Path(id))
	if err != nil {
		return 0
	}
	defer func() { _ = f.Close() }() // nothing was written
	return decodeSize(f)
}

func (s *Store) fileSize(id string) (int64, error) {
	info, err := os.Lstat(s.Path(id))
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// Put has a document written soon, in place of the one before. It is dropped if too much waits for a slow disk.
func (s *Store) Put(doc *Document) {
	s.mu.Lock()
	before := s.waiting[doc.Head.ID]
	delete(s.waiting, doc.Head.ID)
	full := s.full(doc)
	if !full {
		s.waiting[doc.Head.ID] = doc
	} else if before != nil {
		s.waiting[doc.Head.ID] = before
	}
	s.mu.Unlock()
	if full {
		s.writes.WithLabelValues("failed").Inc()
		s.o.Logger.Warn("a document is not stored until it changes: too many writes are pending", "spec", doc.Head.Spec, "state_dir", s.o.Dir)
	}
	signal.Raise(s.wake)
}

// run writes documents that are put, and sweeps, until ctx ends; then it writes those that still wait.
func (s *Store) run(ctx context.Context) {
	if err := s.open(); err != nil {
		s.o.Logger.Warn("documents can't be stored", "state_dir", s.o.Dir, "error", err)
	}
	s.sweep()
	sweep, again := time.NewTicker(sweepInterval), time.NewTimer(retryInterval)
	defer sweep.Stop()
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			s.writeAll()
			return
		case <-s.wake:
			s.writeAll()
		case <-again.C:
			s.writeAll()
		case <-sweep.C:
			s.sweep()
		}
		again.Reset(retryInterval)
	}
}

// open makes the directory, and warns if every user can write there.
func (s *Store) open() error {
	if err := os.MkdirAll(s.o.Dir, 0o700); err != nil {
		return err
	}
	info, err := os.Stat(s.o.Dir)
	if err == nil && info.Mode().Perm()&0o002 != 0 {
		s.o.Logger.Warn("server.state_dir is writable for everyone on this machine, who can so choose the document that is served while the original can't be read", "state_dir", s.o.Dir)
	}
	return err
}

// writeAll writes the documents that wait. One that can't be written waits on, as far as there is room.
func (s *Store) writeAll() {
	s.mu.Lock()
	for id, doc := range s.writing { // a panic has left them
		if s.waiting[id] == nil {
			s.waiting[id] = doc
		}
	}
	all := s.waiting
	s.writing, s.waiting = all, map[string]*Document{}
	s.mu.Unlock()
	for id, doc := range all {
		err := s.writeOne(id, doc)
		s.mu.Lock()
		before := s.failing[id]
		if err == nil {
			delete(s.failing, id)
		} else {
			s.failing[id] = true
			if s.waiting[id] == nil && !s.full(doc) {
				s.waiting[id] = doc
			}
		}
		s.mu.Unlock()
		switch {
		case err == nil:
			s.writes.WithLabelValues("ok").Inc()
		default:
			s.writes.WithLabelValues("failed").Inc()
			if !before {
				s.o.Logger.Warn("a document can't be stored; retrying", "spec", doc.Head.Spec, "state_dir", s.o.Dir, "error", err)
			}
		}
	}
}

// writeOne writes one document. It does not count as being written afterwards, even after a panic.
func (s *Store) writeOne(id string, doc *Document) error {
	defer func() {
		s.mu.Lock()
		delete(s.writing, id)
		s.mu.Unlock()
	}()
	return s.disk.Write(doc)
}

// full reports whether there is no room for a document to wait. A single one always may. The caller holds s.mu.
func (s *Store) full(doc *Document) bool {
	return len(s.waiting)+len(s.writing) > 0 && s.held()+doc.size() > s.o.MaxWaiting
}

// held returns how many bytes wait or are being written. The caller holds s.mu.
func (s *Store) held() (size int) {
	for _, all := range []map[string]*Document{s.waiting, s.writing} {
		for _, doc := range all {
			size += doc.size()
		}
	}
	return size
}

func (s *Document) size() int { return int(s.Copy.Bytes()) }

// writeFile writes a document, whole or not at all, also if the machine fails.
func (s *Store) writeFile(doc *Document) error {
	return localfile.ReplaceWith(s.Path(doc.Head.ID), tempPrefix, func(f *os.File) error { return doc.encode(f, s.o.Pace) })
}

// sweep marks the documents of the configuration as named, and removes those that no configuration has named for long, and the oldest of
// too many. Other processes mark their own.
func (s *Store) sweep() {
	s.mu.Lock()
	named := s.named
	s.mu.Unlock()
	entries, err := os.ReadDir(s.o.Dir)
	if err != nil {
		return // there is nothing, or it was told
	}
	now := time.Now()
	type unnamed struct {
		name string
		at   time.Time
	}
	var others []unnamed
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		name := e.Name()
		id, ours := strings.CutSuffix(name, suffix)
		switch {
		case strings.HasPrefix(name, tempPrefix):
			if now.Sub(info.ModTime()) > tempAge {
				_ = os.Remove(filepath.Join(s.o.Dir, name))
			}
		case !ours || len(id) != hex.EncodedLen(sha256.Size): // not ours to touch
		case slices.Contains(named, id):
			_ = os.Chtimes(filepath.Join(s.o.Dir, name), now, now) // read-only: nothing is removed then either
		default:
			others = append(others, unnamed{name, info.ModTime()})
		}
	}
	slices.SortFunc(others, func(a, b unnamed) int { return b.at.Compare(a.at) })
	for n, other := range others {
		if n >= maxUnnamed || now.Sub(other.at) > unnamedAge {
			if err := os.Remove(filepath.Join(s.o.Dir, other.name)); err == nil {
				s.o.Logger.Info("removed a stored document that no configuration refers to", "file", other.name)
			}
		}
	}
}
