package filewatch

import (
	"context"
	"crypto/sha256"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	settleTime = 100 * time.Millisecond // after the last sign of a change, so that a file is read when it is whole
	settleMost = time.Second            // after the first sign, for files that never rest
	pollTime   = 30 * time.Second       // for changes of which the system gives no sign
)

// Watcher notices changes of files, and of directories: of the names of the files in them that count, or of all that is below them. It compares with the contents at the
// time when it was made, so that nothing is missed if it is made before the files are read.
type Watcher struct {
	paths    []string
	counts   func(name string) bool
	notifier *Notifier
	digests  map[string]digest // the last content seen; no entry when there was no file
	changed  func(path string)
	follow   func(dir string) // nil: polling only
	names    map[string]bool  // base names of interest
	dirs     map[string]bool  // directories among paths
	within   map[string]bool  // directories of which everything is watched
}

// Options are the settings of a [Watcher].
type Options struct {
	// Notifier receives the events of the system; nil for one of the watcher's own.
	Notifier *Notifier
	// Counts reports by its name whether a file of a watched directory counts; nil if none does.
	Counts func(name string) bool
}

// New reads the files once and returns a watcher that starts nothing by itself. Of a directory it watches the names that count, and the
// contents of these files, too, if the path ends in a separator. A path that ends in /... stands for the names and contents of all files below
// the directory, but for those that begin with a dot.
func New(paths []string, o Options) *Watcher {
	w := &Watcher{counts: o.Counts, notifier: o.Notifier, digests: map[string]digest{}, names: map[string]bool{}, dirs: map[string]bool{}, within: map[string]bool{}}
	if w.counts == nil {
		w.counts = func(string) bool { return false }
	}
	if w.notifier == nil {
		w.notifier = new(Notifier)
	}
	for _, p := range paths {
		if !slices.Contains(w.paths, p) {
			w.paths = append(w.paths, p)
		}
	}
	w.check(true)
	return w
}

// Run calls changed with the path of each file whose content has changed, until ctx is done; then it returns nil. It
// is called once, or again after a panic of changed, and calls changed in the goroutine of its caller, one call at a time.
//
// It listens to changes of the files' directories, which covers files that are replaced (as editors do) and the
// mounted ConfigMaps and Secrets of Kubernetes, whose files are links through a directory that is swapped as a whole.
// It also compares contents every 30 seconds, for file systems that give no signs, and alone if the system refuses to
// watch. A file that is removed is not reported until it is back with another content.
func (w *Watcher) Run(ctx context.Context, changed func(path string)) (err error) {
	w.changed = changed
	signs, failed := w.notifier.subscribe()
	if failed != nil {
		// No more watches allowed (inotify limits) must not keep the gateway from running: polling goes on.
		w.follow = nil
		w.check(false)
		w.run(ctx, nil, nil)
		return nil
	}
	defer func() { err = w.notifier.unsubscribe(signs) }() // also when changed panics, which is for the caller
	w.follow = func(dir string) { w.notifier.follow(signs, dir) }
	w.followAll()
	w.check(false) // what changed before the directories were watched gave no sign
	w.run(ctx, signs.events, signs.errs)
	return nil
}

type digest [sha256.Size]byte

// run waits for signs and for the clock.
func (w *Watcher) run(ctx context.Context, events <-chan fsnotify.Event, errs <-chan error) {
	poll := time.NewTicker(pollTime)
	defer poll.Stop()
	settle := time.NewTimer(settleTime)
	settle.Stop()
	defer settle.Stop()
	var first time.Time // of the signs that settle waits for
	sign := func() {
		if first.IsZero() {
			first = time.Now()
		}
		settle.Reset(max(0, min(settleTime, settleMost-time.Since(first))))
	}
	for {
		select {
		case <-ctx.Done():
			return
		case e, ok := <-events:
			if !ok {
				events = nil
			} else if w.relevant(e.Name) {
				sign()
			}
		case _, ok := <-errs:
			if !ok {
				errs = nil
			} else {
				sign() // signs were lost
			}
		case <-settle.C:
			first = time.Time{}
			w.check(false)
		case <-poll.C:
			w.check(false)
		}
	}
}

// relevant reports whether an event may be about one of the files. Other files in the same directory, such as logs, may
// change all the time.
func (w *Watcher) relevant(path string) bool {
	name := filepath.Base(path)
	return w.names[name] || strings.HasPrefix(name, "..") || // ..data of a ConfigMap
		w.dirs[filepath.Dir(path)] && w.counts(name) || w.within[filepath.Dir(path)] && !isHidden(name)
}

// check compares all files with what they were and reports those that differ, unless it is the first look.
func (w *Watcher) check(first bool) {
	w.followAll()
	for _, p := range w.paths {
		now, ok := w.digestOf(p)
		if last, known := w.digests[p]; !ok || known && now == last {
			continue
		}
		w.digests[p] = now
		if !first {
			w.changed(p)
		}
	}
}

// followAll watches the directories of the files and of the files that they are links to.
func (w *Watcher) followAll() {
	for _, p := range w.paths {
		p, isTree := strings.CutSuffix(p, everything)
		w.names[filepath.Base(p)] = true
		dirs := []string{filepath.Dir(p)}
		if target, err := filepath.EvalSymlinks(p); err == nil && target != p {
			w.names[filepath.Base(target)] = true
			dirs = append(dirs, filepath.Dir(target))
		}
		if info, err := os.Stat(p); err == nil && info.IsDir() && !isTree {
			w.dirs[filepath.Clean(p)] = true
			dirs = append(dirs, filepath.Clean(p))
		}
		if isTree {
			walk(p, func(path string, e fs.DirEntry) {
				if e.IsDir() {
					w.within[filepath.Clean(path)] = true
					dirs = append(dirs, filepath.Clean(path))
				}
			})
		}
		if w.follow != nil {
			for _, dir := range dirs {
				w.follow(dir)
			}
		}
	}
}

// digestOf returns the digest of a file's content or of a directory, and false if it can't be read.
func (w *Watcher) digestOf(path string) (digest, bool) {
	if dir, isTree := strings.CutSuffix(path, everything); isTree {
		return w.digestOfTree(dir)
	}
	// Opening a pipe must not block, and what was opened counts: the name may lead elsewhere by then.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return digest{}, false
	}
	defer func() { _ = f.Close() }() // nothing was written
	info, err := f.Stat()
	switch {
	case err == nil && info.IsDir():
		return w.digestOfDirectory(path)
	case err != nil || !info.Mode().IsRegular():
		return digest{}, false
	}
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return digest{}, false
	}
	return digest(h.Sum(nil)), true
}

// digestOfDirectory returns the digest of the names that count in a directory, with the contents of these files if the path ends in a
// separator.
func (w *Watcher) digestOfDirectory(path string) (digest, bool) {
	entries, err := os.ReadDir(path)
	if err != nil {
		return digest{}, false
	}
	h := sha256.New()
	for _, e := range entries {
		file := filepath.Join(path, e.Name())
		if !w.counts(e.Name()) {
			continue
		}
		if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
			continue
		}
		_, _ = io.WriteString(h, e.Name()+"\x00") // a hash takes all
		if strings.HasSuffix(path, string(filepath.Separator)) {
			content, _ := w.digestOf(file)
			_, _ = h.Write(content[:])
		}
	}
	return digest(h.Sum(nil)), true
}

// everything is the end of the path of a directory that is watched with all that is below it.
const everything = string(filepath.Separator) + "..."

// maxWalked is the maximum number of files and directories below a directory that are watched.
const maxWalked = 50_000

// digestOfTree returns the digest of the names and contents of all files below a directory; false if there is no such directory.
func (w *Watcher) digestOfTree(dir string) (digest, bool) {
	h := sha256.New()
	found := walk(dir, func(path string, e fs.DirEntry) {
		_, _ = io.WriteString(h, path+"\x00") // a hash takes all
		if !e.IsDir() {
			content, _ := w.digestOf(path)
			_, _ = h.Write(content[:])
		}
	})
	return digest(h.Sum(nil)), found
}

// walk visits a directory and all that is below it, but for what begins with a dot, as far as it can be read. It does not follow links to
// directories, except from dir itself. It returns false if there is no such directory.
func walk(dir string, visit func(path string, e fs.DirEntry)) (found bool) {
	seen := 0
	_ = filepath.WalkDir(dir+string(filepath.Separator), func(path string, e fs.DirEntry, err error) error { // ends with the visits
		switch {
		case e == nil || err != nil:
			return nil //nolint:nilerr // what can't be read is not watched
		case found && isHidden(e.Name()) && e.IsDir():
			return fs.SkipDir
		case found && isHidden(e.Name()):
			return nil
		}
		if seen++; seen > maxWalked {
			return fs.SkipAll
		}
		found = true
		visit(path, e)
		return nil
	})
	return found
}

func isHidden(name string) bool { return strings.HasPrefix(name, ".") }
