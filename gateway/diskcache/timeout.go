package diskcache

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"
)

// A network file system may hang, and a system call that waits for it can't be cancelled. So the store touches the disk in goroutines that
// are waited for no longer than this: only they may be left when [Store.Run] has returned.
const (
	ReadTimeout = 5 * time.Second // for a document
	EndTimeout  = 2 * time.Second // for the writes at the end
)

// Load returns the document of an API; nil if there is none. One that can't be used, or read in time, is logged under the label of the
// API. The caller calls release when the text is not needed any more.
func (s *Store) Load(ctx context.Context, id, label string) (doc *Document, release func()) {
	release = func() {}
	var text []byte
	size, err := Within(ctx, s.o.Recover, s.o.ReadTimeout, func() (int64, error) { return s.disk.Size(id) })
	if err == nil && size > s.o.LargeSize && s.large != nil {
		select {
		case s.large <- struct{}{}:
			release = func() { <-s.large }
		case <-ctx.Done():
		}
	}
	if err == nil {
		text, err = Within(ctx, s.o.Recover, s.o.ReadTimeout, func() ([]byte, error) { return s.disk.Read(id) })
	}
	if ctx.Err() != nil {
		return nil, release
	}
	if err == nil {
		doc, err = decode(text, id)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.o.Logger.Warn("the stored document can't be used", "api", label, "file", s.Path(id), "error", err)
	}
	return doc, release
}

// Sizes returns the sizes of compiled documents, in bytes, 0 for each that is unknown; nil if the disk does not answer within the timeout, which
// is not logged, since a document that is loaded meets the same disk.
func (s *Store) Sizes(ctx context.Context, timeout time.Duration, ids []string) []int64 {
	sizes, _ := Within(ctx, s.o.Recover, timeout, func() (sizes []int64, _ error) {
		for _, id := range ids {
			sizes = append(sizes, s.readSize(id))
		}
		return sizes, nil
	})
	return sizes
}

// Run writes documents until ctx ends, and has EndTimeout then for those that still wait.
func (s *Store) Run(ctx context.Context) {
	written := make(chan struct{})
	go func() {
		defer close(written)
		s.o.Keep(ctx, "documents were kept", func() { s.run(ctx) })
	}()
	<-ctx.Done()
	timeout := time.NewTimer(s.o.EndTimeout)
	defer timeout.Stop()
	select {
	case <-written:
	case <-timeout.C:
		s.o.Logger.Warn("documents may not be stored: server.state_dir does not respond", "state_dir", s.o.Dir, "waited", s.o.EndTimeout)
	}
}

// errPanicked is the error of a read that panicked.
var errPanicked = errors.New("internal error; the log has the cause")

// Within returns the result of f, which reads server.state_dir in a goroutine that protect runs. It waits no longer than timeout, or the end of ctx.
func Within[T any](ctx context.Context, protect func(what string, step func()) (panicked bool), timeout time.Duration, f func() (T, error)) (v T, err error) {
	type result struct {
		v   T
		err error
	}
	done := make(chan result, 1)
	go func() {
		o := result{err: errPanicked}
		protect("server.state_dir was read", func() { o.v, o.err = f() })
		done <- o
	}()
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case o := <-done:
		return o.v, o.err
	case <-timer.C:
		return v, fmt.Errorf("it can't be read within %s; server.state_dir seems to hang", timeout)
	case <-ctx.Done():
		return v, ctx.Err()
	}
}
