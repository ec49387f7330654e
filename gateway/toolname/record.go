package toolname

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"

	"drawbridge/gateway/catalog"
	"drawbridge/gateway/diskcache"
	"drawbridge/gateway/localfile"
	"drawbridge/gateway/signal"
)

const (
	suffix     = ".names"
	tempPrefix = ".naming-"
	// maxFile is the size of the largest file that is read, in bytes.
	maxFile = 64 << 20
	version = 1
)

// Record is the file of the published names of a configuration. The methods of a nil Record do nothing. It is safe for concurrent use.
type Record struct {
	path    string
	log     *slog.Logger
	protect func(what string, step func()) (panicked bool)
	wake    chan struct{} // its capacity is 1

	mu     sync.Mutex
	newest catalog.Published // to be written; nil if the file has it
}

// Options are the parameters of [New].
type Options struct {
	// Dir is server.state_dir; if it is empty, nothing is kept.
	Dir string
	// ConfigFile is the path of the configuration file, which identifies the record among those of other configurations.
	ConfigFile string
	// Logger receives a warning if the file can't be read or written.
	Logger *slog.Logger
	// Recover runs a step that touches the disk, and recovers from a panic. It reports whether there was one.
	Recover func(what string, step func()) (panicked bool)
}

// New returns nil if there is no directory. It does not access the disk.
func New(o Options) *Record {
	if o.Dir == "" {
		return nil
	}
	if abs, err := filepath.Abs(o.ConfigFile); err == nil {
		o.ConfigFile = abs
	}
	return &Record{path: filepath.Join(o.Dir, diskcache.ID("names", o.ConfigFile)+suffix), log: o.Logger, protect: o.Recover, wake: make(chan struct{}, 1)}
}

// file is the content of the file.
type file struct {
	Version    int         `json:"version"`
	Operations []operation `json:"operations"`
}

type operation struct {
	API    string `json:"api"`
	Method string `json:"method"`
	Path   string `json:"path"`
	catalog.PublishedNames
}

// Read returns the names of the file, none if there is no file, or it can't be read in time.
func (r *Record) Read(ctx context.Context) catalog.Published {
	if r == nil {
		return nil
	}
	names, err := diskcache.Within(ctx, r.protect, diskcache.ReadTimeout, r.read)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.log.Warn("the names that tools had before can't be read, so that some may get other names", "file", r.path, "error", err)
	}
	return names
}

func (r *Record) read() (catalog.Published, error) {
	f, err := localfile.Open(r.path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // nothing was written
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxFile {
		return nil, fmt.Errorf("it is larger than %d MiB", maxFile>>20)
	}
	return decode(text)
}

func decode(text []byte) (catalog.Published, error) {
	var content file
	if err := json.Unmarshal(text, &content); err != nil {
		return nil, fmt.Errorf("it is damaged: %w", err)
	}
	if content.Version != version {
		return nil, fmt.Errorf("it has version %d, and this version of drawbridge reads %d", content.Version, version)
	}
	names := make(catalog.Published, len(content.Operations))
	for _, op := range content.Operations {
		names[catalog.OperationKey{API: op.API, Method: op.Method, Path: op.Path}] = op.PublishedNames
	}
	return names, nil
}

func encode(names catalog.Published) ([]byte, error) {
	content := file{Version: version, Operations: make([]operation, 0, len(names))}
	for key, of := range names {
		content.Operations = append(content.Operations, operation{key.API, key.Method, key.Path, of})
	}
	slices.SortFunc(content.Operations, func(a, b operation) int {
		return cmp.Or(cmp.Compare(a.API, b.API), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Method, b.Method))
	})
	return json.Marshal(content)
}

// Note schedules names to be written. Later ones replace them if they are not written yet.
func (r *Record) Note(names catalog.Published) {
	if r == nil {
		return
	}
	r.mu.Lock()
	r.newest = names
	r.mu.Unlock()
	signal.Raise(r.wake)
}

// Run writes scheduled names until ctx ends, and then the last ones.
func (r *Record) Run(ctx context.Context) {
	if r == nil {
		return
	}
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

// write writes the newest names. It waits no longer than a disk may take.
func (r *Record) write() {
	r.mu.Lock()
	names := r.newest
	r.newest = nil
	r.mu.Unlock()
	if names == nil {
		return
	}
	_, err := diskcache.Within(context.Background(), r.protect, diskcache.EndTimeout, func() (struct{}, error) {
		text, err := encode(names)
		if err == nil {
			err = localfile.Replace(r.path, tempPrefix, text)
		}
		return struct{}{}, err
	})
	if err != nil {
		r.log.Warn("the names of tools can't be stored; after a restart some may get other names", "file", r.path, "error", err)
	}
}
