package config

import (
	"path/filepath"
	"slices"
	"sync"

	"github.com/fsnotify/fsnotify"
)

// FileNotifier hears from the system what happens in directories, for any number of watchers: a user may have 128 inotify instances by
// default, and this needs one. The zero value is ready for use, and safe for concurrent use.
type FileNotifier struct {
	mu     sync.Mutex        // held while subscriptions change, which the system may do only when its last event was taken
	system *fsnotify.Watcher // nil while there is no subscription
	ended  chan struct{}     // closed after the last event of system
	count  int               // of subscriptions

	dirsMu sync.Mutex // so that distribute waits for no change
	dirs   map[string][]*subscription
}

// NewWatcher is [NewWatcher] for a watcher that shares the notifier.
func (n *FileNotifier) NewWatcher(paths []string) *Watcher {
	w := NewWatcher(paths)
	w.notifier = n
	return w
}

// subscription is what one watcher hears.
type subscription struct {
	events chan fsnotify.Event
	errs   chan error
}

// subscribe begins to listen. The error is that of a system that allows no more instances.
func (n *FileNotifier) subscribe() (*subscription, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.system == nil {
		system, err := fsnotify.NewWatcher()
		if err != nil {
			return nil, err
		}
		n.system, n.ended = system, make(chan struct{})
		n.dirsMu.Lock()
		n.dirs = map[string][]*subscription{}
		n.dirsMu.Unlock()
		go n.distribute(system, n.ended)
	}
	n.count++
	return &subscription{events: make(chan fsnotify.Event, 64), errs: make(chan error, 1)}, nil
}

// follow adds a directory to a subscription. One that does not exist yet is left to polling. A directory that was removed and is back
// needs to be added again, which costs nothing for the others.
func (n *FileNotifier) follow(s *subscription, dir string) {
	dir = filepath.Clean(dir)
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.system.Add(dir) != nil {
		return
	}
	n.dirsMu.Lock()
	defer n.dirsMu.Unlock()
	if !slices.Contains(n.dirs[dir], s) {
		n.dirs[dir] = append(n.dirs[dir], s)
	}
}

// unsubscribe ends a subscription. The last one ends the goroutine.
func (n *FileNotifier) unsubscribe(s *subscription) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, dir := range n.leave(s) {
		_ = n.system.Remove(dir) // the system has removed it if the directory is gone
	}
	if n.count--; n.count > 0 {
		return nil
	}
	err := n.system.Close()
	<-n.ended
	n.system = nil
	return err
}

// leave takes a subscription out of all directories, and returns those that nobody follows any more.
func (n *FileNotifier) leave(s *subscription) (deserted []string) {
	n.dirsMu.Lock()
	defer n.dirsMu.Unlock()
	for dir, all := range n.dirs {
		i := slices.Index(all, s)
		if i < 0 {
			continue
		}
		if n.dirs[dir] = slices.Delete(all, i, i+1); len(n.dirs[dir]) == 0 {
			delete(n.dirs, dir)
			deserted = append(deserted, dir)
		}
	}
	return deserted
}

// distribute hands the events of a system to the subscriptions of their directories.
func (n *FileNotifier) distribute(system *fsnotify.Watcher, ended chan<- struct{}) {
	defer close(ended)
	for {
		select {
		case e, ok := <-system.Events:
			if !ok {
				return
			}
			n.handOn(e)
		case err, ok := <-system.Errors:
			if !ok {
				return
			}
			n.fail(err)
		}
	}
}

func (n *FileNotifier) handOn(e fsnotify.Event) {
	n.dirsMu.Lock()
	defer n.dirsMu.Unlock()
	for _, s := range n.dirs[filepath.Dir(e.Name)] {
		select {
		case s.events <- e:
		default:
			s.fail(fsnotify.ErrEventOverflow)
		}
	}
}

func (n *FileNotifier) fail(err error) {
	n.dirsMu.Lock()
	defer n.dirsMu.Unlock()
	for _, all := range n.dirs {
		for _, s := range all {
			s.fail(err)
		}
	}
}

// fail tells a watcher that it may have missed an event.
func (s *subscription) fail(err error) {
	select {
	case s.errs <- err:
	default: // it is told already
	}
}
