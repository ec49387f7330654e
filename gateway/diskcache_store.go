package gateway

import (
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

	"drawbridge/config"
	"drawbridge/gateway/redact"
	"drawbridge/gateway/regularfile"
	"drawbridge/openapi"
	"drawbridge/openapi/fetch"
)

// archive keeps the last good document of each API on disk (server.state_dir, O1). Several processes may have one: files are
// written beside and moved, so that a reader sees a whole one, and whoever is last wins. Whatever goes wrong with it, the gateway goes on. All methods of a nil archive do nothing. It is safe for concurrent use.
type archive struct {
	dir    string
	most   int64 // bytes of a file
	log    *slog.Logger
	writes *prometheus.CounterVec // outcome

	// The disk, and how long a start and an end wait for it. Tests have their own.
	read         func(id string) ([]byte, error)
	write        func(*archived) error
	size         func(id string) (int64, error)
	start, ended time.Duration
	// large has a place for each large document that is read from the disk and compiled; nil: there may be any number.
	large chan struct{}
	// survive runs what touches the disk in a goroutine of its own.
	survive func(what string, step func()) (panicked bool)
	// pace is that of writing them.
	pace *openapi.Pace
	// waits is how many bytes of documents wait to be written at most, or are written. More are not kept; they are written when they change.
	waits int

	mu      sync.Mutex
	waiting map[string]*archived // to be written, by id
	writing map[string]*archived // that the disk has been given
	failing map[string]bool      // the last write of which failed
	named   []string             // ids of the configuration in use
	wake    chan struct{}        // one place
}

const (
	archiveSuffix = ".document"
	archiveTemp   = ".writing-"
	// keptUnnamed is how long the document of an API that no configuration names any more is kept.
	keptUnnamed = 30 * 24 * time.Hour
	// maxUnnamed is how many of these are kept at most.
	maxUnnamed = 256
	// keptTemp is when a file is given up whose writer must have died.
	keptTemp = time.Hour
	// writeAgain is when a write that failed is tried again.
	writeAgain = time.Minute
	// maxWaits is archive.waits at most.
	maxWaits = 64 << 20
	// sweepEvery is how often what nobody names is looked for, and what is named marked as that.
	sweepEvery = 24 * time.Hour
)

// newArchive returns nil without a directory. It touches nothing.
func newArchive(c *config.Config, log *slog.Logger, r *prometheus.Registry, survive func(what string, step func()) (panicked bool)) *archive {
	if c.Server.StateDir == "" {
		return nil
	}
	s := &archive{dir: c.Server.StateDir.String(), most: int64(c.Limits.MaxSpec) + maxArchiveHead + maxArchiveLines, log: log, survive: survive, wake: make(chan struct{}, 1),
		waiting: map[string]*archived{}, writing: map[string]*archived{}, failing: map[string]bool{}, waits: maxWaits,
		writes: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "drawbridge_state_writes_total",
			Help: "Attempts to keep a document in server.state_dir by outcome: ok or failed."}, []string{"outcome"}),
	}
	s.read, s.write, s.size, s.start, s.ended = s.readFile, s.writeFile, s.fileSize, startPatience, endPatience
	for _, outcome := range []string{"ok", "failed"} {
		s.writes.WithLabelValues(outcome)
	}
	r.MustRegister(s.writes)
	return s
}

// archiveID names the document of an API on disk. It tells nothing of what may be secret in its location.
func archiveID(api *config.API) string {
	location := api.Spec.String()
	if !api.Spec.IsURL() {
		if abs, err := filepath.Abs(location); err == nil {
			location = abs
		}
	}
	base := ""
	if api.BaseURL != nil {
		base = api.BaseURL.String()
	}
	h := sha256.New()
	parts := []string{location, api.Name, base}
	if api.Root != "" {
		parts = append(parts, api.Root.String()) // a copy holds the files that another root let in
	}
	for _, text := range parts {
		fmt.Fprintf(h, "%d:%s", len(text), text)
	}
	return hex.EncodeToString(h.Sum(nil))
}

func (s *archive) path(id string) string { return filepath.Join(s.dir, id+archiveSuffix) }

func (s *archive) readFile(id string) ([]byte, error) {
	f, err := regularfile.Open(s.path(id))
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // nothing was written
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case info.Size() > s.most:
		return nil, fmt.Errorf("it is larger than %d MiB", s.most>>20)
	}
	text := make([]byte, info.Size())
	_, err = io.ReadFull(f, text)
	return text, err
}

// readSize returns what was made of the document that is kept, in bytes; 0: that is not known.
func (s *archive) readSize(id string) int64 {
	f, err := regularfile.Open(s.path(id))
	if err != nil {
		return 0
	}
	defer func() { _ = f.Close() }() // nothing was written
	return decodeSize(f)
}

func (s *archive) fileSize(id string) (int64, error) {
	info, err := os.Lstat(s.path(id))
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// put has a document written soon, in place of what was there. It is not kept if too much waits for a disk that is slow.
func (s *archive) put(doc *archived) {
	if s == nil || doc == nil {
		return
	}
	s.mu.Lock()
	before := s.waiting[doc.head.ID]
	delete(s.waiting, doc.head.ID)
	full := s.full(doc)
	if !full {
		s.waiting[doc.head.ID] = doc
	} else if before != nil {
		s.waiting[doc.head.ID] = before
	}
	s.mu.Unlock()
	if full {
		s.writes.WithLabelValues("failed").Inc()
		s.log.Warn("a document can't be kept until it changes: too much waits to be written", "spec", doc.head.Spec, "state_dir", s.dir)
	}
	signal(s.wake)
}

// archivedOf makes what stands in the archive of what was loaded; nil without a copy.
func (s *source) archivedOf(l *loaded, c *fetch.Copy) *archived {
	if c == nil || s.archiveID == "" {
		return nil
	}
	doc := &archived{copy: c, head: archiveHead{ID: s.archiveID, Spec: redact.Location(s.config.Spec.String()), Read: l.at.UTC().Truncate(time.Second)}}
	doc.head.Size = l.api.Size
	doc.head.Exposed = append([]string{}, s.operations(l.api)...)
	for _, op := range l.api.Operations {
		doc.head.Operations = append(doc.head.Operations, op.Method+" "+op.Path)
	}
	return doc
}

// assign gives the sources of a deployment their documents on disk. Entries of the configuration that nothing tells apart, since
// they write one path in two ways, have none: one would get what is the other's.
func (s *archive) assign(d *deployment) {
	if s == nil {
		return
	}
	count := map[string]int{}
	for _, src := range d.sources {
		count[archiveID(&src.config)]++
	}
	for _, src := range d.sources {
		id := archiveID(&src.config)
		switch {
		case src.cancel != nil: // it runs, and keeps what it has
		case count[id] == 1:
			src.archiveID = id
		default:
			s.log.Warn("a document is not kept, because another entry of the configuration has the same spec and base_url: give both a name", "spec", redact.Location(src.config.Spec.String()))
		}
	}
}

// names tells which documents the configuration in use names.
func (s *archive) names(d *deployment) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.named = nil
	for _, src := range d.sources {
		s.named = append(s.named, src.archiveID)
	}
}

// run writes what is put, and sweeps, until ctx ends; then it writes what still waits.
func (s *archive) run(ctx context.Context) {
	if err := s.open(); err != nil {
		s.log.Warn("documents can't be kept", "state_dir", s.dir, "error", err)
	}
	s.sweep()
	sweep, again := time.NewTicker(sweepEvery), time.NewTimer(writeAgain)
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
		again.Reset(writeAgain)
	}
}

// open makes the directory, and has it looked at by those who may be surprised by who can write there.
func (s *archive) open() error {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	info, err := os.Stat(s.dir)
	if err == nil && info.Mode().Perm()&0o002 != 0 {
		s.log.Warn("everybody on this machine can write to server.state_dir, and so choose what is served while a document can't be read", "state_dir", s.dir)
	}
	return err
}

// writeAll writes what waits. What can't be written waits on, as far as there is room.
func (s *archive) writeAll() {
	s.mu.Lock()
	for id, doc := range s.writing { // a panic has left them
		if s.waiting[id] == nil {
			s.waiting[id] = doc
		}
	}
	all := s.waiting
	s.writing, s.waiting = all, map[string]*archived{}
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
				s.log.Warn("a document can't be kept; it is tried again", "spec", doc.head.Spec, "state_dir", s.dir, "error", err)
			}
		}
	}
}

// writeOne gives one document to the disk. It does not count as written any more, even if that panics.
func (s *archive) writeOne(id string, doc *archived) error {
	defer func() {
		s.mu.Lock()
		delete(s.writing, id)
		s.mu.Unlock()
	}()
	return s.write(doc)
}

// full tells that there is no room for a document to wait. One alone may always. The caller has the lock.
func (s *archive) full(doc *archived) bool {
	return len(s.waiting)+len(s.writing) > 0 && s.held()+doc.size() > s.waits
}

// held is how many bytes wait, or are written. The caller has the lock.
func (s *archive) held() (size int) {
	for _, all := range []map[string]*archived{s.waiting, s.writing} {
		for _, doc := range all {
			size += doc.size()
		}
	}
	return size
}

func (s *archived) size() int { return int(s.copy.Bytes()) }

// writeFile puts a document on the disk, whole or not at all, also if the machine fails.
func (s *archive) writeFile(doc *archived) (err error) {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(s.dir, archiveTemp+"*") // with mode 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	if err = doc.encode(f, s.pace); err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	if err := os.Rename(f.Name(), s.path(doc.head.ID)); err != nil {
		return err
	}
	dir, err := os.Open(s.dir)
	if err != nil {
		return err
	}
	defer func() { _ = dir.Close() }()
	_ = dir.Sync() // there are file systems that can't; the file is there all the same
	return nil
}

// sweep marks the documents of the configuration as named, and removes those that none has named for long, and the oldest of
// too many. What other processes have is theirs to mark.
func (s *archive) sweep() {
	s.mu.Lock()
	named := s.named
	s.mu.Unlock()
	entries, err := os.ReadDir(s.dir)
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
		id, ours := strings.CutSuffix(name, archiveSuffix)
		switch {
		case strings.HasPrefix(name, archiveTemp):
			if now.Sub(info.ModTime()) > keptTemp {
				_ = os.Remove(filepath.Join(s.dir, name))
			}
		case !ours || len(id) != hex.EncodedLen(sha256.Size): // not ours to touch
		case slices.Contains(named, id):
			_ = os.Chtimes(filepath.Join(s.dir, name), now, now) // read-only: nothing is removed then either
		default:
			others = append(others, unnamed{name, info.ModTime()})
		}
	}
	slices.SortFunc(others, func(a, b unnamed) int { return b.at.Compare(a.at) })
	for n, other := range others {
		if n >= maxUnnamed || now.Sub(other.at) > keptUnnamed {
			if err := os.Remove(filepath.Join(s.dir, other.name)); err == nil {
				s.log.Info("a document that no configuration names any more is gone", "file", other.name)
			}
		}
	}
}
