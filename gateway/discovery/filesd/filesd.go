package filesd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"drawbridge/config"
	"drawbridge/gateway/discovery"
	"drawbridge/gateway/discovery/targetgroup"
	"drawbridge/gateway/localfile"
)

// Provider reads services from files.
type Provider struct {
	paths []string
	last  map[string][]discovery.Target // by file: what it had when it was last read
}

// New returns the provider of files.
func New(d *config.FileDiscovery) *Provider {
	p := &Provider{last: map[string][]discovery.Target{}}
	for _, path := range d.Paths {
		p.paths = append(p.paths, path.String())
	}
	return p
}

// Times of a [Provider].
const (
	poll   = 5 * time.Second       // between looks at the files, for file systems that report no changes
	settle = 50 * time.Millisecond // from a change until the file is read: writers write in several steps
)

// Run implements [discovery.Provider].
func (p *Provider) Run(ctx context.Context, update func([]discovery.Target, error)) {
	var events chan fsnotify.Event
	watcher, err := fsnotify.NewWatcher()
	if err == nil { // otherwise the files are polled
		defer watcher.Close() //nolint:errcheck // nothing is lost
		for _, dir := range p.directories() {
			_ = watcher.Add(dir) // a directory may come later
		}
		events = watcher.Events
	}
	ticker := time.NewTicker(poll)
	defer ticker.Stop()
	change := time.NewTimer(0)
	defer change.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-change.C:
			update(p.read())
		case <-ticker.C:
			if watcher != nil {
				for _, dir := range p.directories() {
					_ = watcher.Add(dir) // a directory that is watched stays so
				}
			}
			update(p.read())
		case e := <-events:
			if p.concerns(e.Name) {
				change.Reset(settle)
			}
		}
	}
}

func (p *Provider) directories() (dirs []string) {
	for _, path := range p.paths {
		if dir := filepath.Dir(path); !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// concerns reports whether a change in one of the directories may be one of a file: a link to it may be another one, too, as
// Kubernetes replaces the files of a ConfigMap.
func (p *Provider) concerns(name string) bool {
	return slices.ContainsFunc(p.paths, func(path string) bool {
		ok, _ := filepath.Match(path, name) // the configuration has checked the pattern
		return ok || strings.HasPrefix(filepath.Base(name), "..")
	})
}

// read reads all files. A file that can't be read has the services that it had; one that is gone has none.
func (p *Provider) read() (all []discovery.Target, err error) {
	var problems []error
	now := map[string][]discovery.Target{}
	for _, pattern := range p.paths {
		files := []string{pattern}
		if strings.ContainsAny(filepath.Base(pattern), "*?[") {
			files, _ = filepath.Glob(pattern) // the configuration has checked the pattern
		}
		for _, file := range files {
			if _, twice := now[file]; twice {
				continue
			}
			targets, err := readFile(file)
			if err != nil {
				problems = append(problems, fmt.Errorf("%s: %w", file, err))
			}
			if targets == nil && err != nil {
				targets = p.last[file]
			}
			now[file] = targets
			all = append(all, targets...)
		}
	}
	p.last = now
	if all == nil {
		all = []discovery.Target{}
	}
	return all, errors.Join(problems...)
}

func readFile(path string) ([]discovery.Target, error) {
	file, err := localfile.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, targetgroup.MaxSize+1))
	switch {
	case err != nil:
		return nil, err
	case len(text) > targetgroup.MaxSize:
		return nil, fmt.Errorf("the file has more than %d bytes", targetgroup.MaxSize)
	case filepath.Ext(path) == ".json":
		return targetgroup.ParseJSON(text)
	}
	return targetgroup.ParseYAML(text)
}
