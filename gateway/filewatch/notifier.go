package filewatch

import (
	"path/filepath"
	"slices"
	"sync"

	"github.com/fsnotify/fsnotify"
)

// Notifier receives the system's events of directories and passes them on to any number of watchers. It needs one inotify instance, of
// which a user may have 128 by default. The zero value is ready for use, and safe for concurrent use.
type Notifier struct {
	mu     sync.Mutex        // serializes changes; distribute never takes it, because a change may wait until an event is received
	system *fsnotify.Watcher // nil while there is no subscription
	ended  chan struct{}     // closed after the last event of system
	count  int               // of subscriptions

	dirsMu sync.Mutex // guards dirs, and is not held during a change of system
	dirs   map[string][]*subscription
}

// subscription receives the events for one watcher.
type subscription struct {
	events chan fsnotify.Event
	errs   chan error
}

// subscribe adds a subscription. It fails if the system allows no more instances.
func (n *Notifier) subscribe() (*subscription, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.system == nil {
		system, err := fsnotify.NewWatcher()
		if err != nil {
			return nil, err
		}
		n.system, n.ended = system, make(chan struct{})
		go n.distribute(system, n.ended)
	}
	n.count++
	return &subscription{events: make(chan fsnotify.Event, 64), errs: make(chan error, 1)}, nil
}

// follow adds a directory to a subscription. One that does not exist yet is left to polling. A directory that was removed and is back
// needs to be added again, which costs nothing for the others.
func (n *Notifier) follow(s *subscription, dir string) {
	dir = filepath.Clean(dir)
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.system.Add(dir) != nil {
		return
	}
	n.dirsMu.Lock()
	defer n.dirsMu.Unlock()
	if n.dirs == nil {
		n.dirs = map[string][]*subscription{}
	}
	if !slices.Contains(n.dirs[dir], s) {
		n.dirs[dir] = append(n.dirs[dir], s)
	}
}

// unsubscribe ends a subscription. The last one ends the goroutine.
func (n *Notifier) unsubscribe(s *subscription) error {
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

// leave removes a subscription from all directories, and returns those that no subscription follows any more.
func (n *Notifier) leave(s *subscription) (unused []string) {
	n.dirsMu.Lock()
	defer n.dirsMu.Unlock()
	for dir, all := range n.dirs {
		i := slices.Index(all, s)
		if i < 0 {
			continue
		}
		if n.dirs[dir] = slices.Delete(all, i, i+1); len(n.dirs[dir]) == 0 {
			delete(n.dirs, dir)
			unused = append(unused, dir)
		}
	}
	return unused
}

// distribute passes the events of a system on to the subscriptions of their directories.
func (n *Notifier) distribute(system *fsnotify.Watcher, ended chan<- struct{}) {
	defer close(ended)
	for {
		select {
		case e, ok := <-system.Events:
			if !ok {
				return
			}
			n.deliver(e)
		case err, ok := <-system.Errors:
			if !ok {
				return
			}
			n.fail(err)
		}
	}
}

func (n *Notifier) deliver(e fsnotify.Event) {
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

func (n *Notifier) fail(err error) {
	n.dirsMu.Lock()
	defer n.dirsMu.Unlock()
	for _, all := range n.dirs {
		for _, s := range all {
			s.fail(err)
		}
	}
}

// fail reports to a watcher that it may have missed an event.
func (s *subscription) fail(err error) {
	select {
	case s.errs <- err:
	default: // a report is waiting already
	}
}
