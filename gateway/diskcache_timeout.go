package gateway

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"
)

// A network file system may hang, and no call of the system that waits for it can be given up. So the archive touches the disk in goroutines that
// nobody waits for longer than this: they are the only ones that may be left when [Gateway.Run] has returned.
const (
	startPatience = 5 * time.Second // for a document that was kept
	sizesPatience = beginGrace      // for the sizes of all: nothing is read before
	endPatience   = 2 * time.Second // for those that are to be written at the end
)

// take returns the document of an API; nil if there is none, which is logged if it is there and can't be used, or does not come in time.
// leave is called when nobody needs its text any more.
func (s *archive) take(ctx context.Context, id, label string) (doc *archived, leave func()) {
	leave = func() {}
	if s == nil {
		return nil, leave
	}
	var text []byte
	size, err := patient(ctx, s.survive, s.start, func() (int64, error) { return s.size(id) })
	if err == nil && size > smallText && s.large != nil {
		select {
		case s.large <- struct{}{}:
			leave = func() { <-s.large }
		case <-ctx.Done():
		}
	}
	if err == nil {
		text, err = patient(ctx, s.survive, s.start, func() ([]byte, error) { return s.read(id) })
	}
	if ctx.Err() != nil {
		return nil, leave
	}
	if err == nil {
		doc, err = decodeArchived(text, id)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.log.Warn("the document that was kept can't be used", "api", label, "file", s.path(id), "error", err)
	}
	return doc, leave
}

// expect counts what the sources had in an earlier run, in the memory of all documents, before the first of them is read.
func (g *Gateway) expect(ctx context.Context, sources []*source) {
	if g.archive == nil || g.room.documents.most == 0 {
		return
	}
	var ids []string
	for _, s := range sources {
		ids = append(ids, s.archiveID)
	}
	sizes, _ := patient(ctx, g.survive, sizesPatience, func() (sizes []int64, _ error) { // who reads a document says that the disk hangs
		for _, id := range ids {
			sizes = append(sizes, g.archive.readSize(id))
		}
		return sizes, nil
	})
	for i, size := range sizes {
		g.room.documents.expect(sources[i], size)
	}
}

// patient returns what f does. It does not wait for longer than patience, or the end of ctx.
func patient[T any](ctx context.Context, survive func(what string, step func()) (panicked bool), patience time.Duration, f func() (T, error)) (v T, err error) {
	type outcome struct {
		v   T
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		o := outcome{err: errStepPanicked}
		survive("server.state_dir was read", func() { o.v, o.err = f() })
		done <- o
	}()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case o := <-done:
		return o.v, o.err
	case <-timer.C:
		return v, fmt.Errorf("it can't be read within %s; server.state_dir seems to hang", patience)
	case <-ctx.Done():
		return v, ctx.Err()
	}
}

// keepDocuments runs the archive until ctx ends, and gives it a moment then to write what still waits.
func (g *Gateway) keepDocuments(ctx context.Context) {
	written := make(chan struct{})
	go func() {
		defer close(written)
		g.Keep(ctx, "documents were kept", func() { g.archive.run(ctx) })
	}()
	<-ctx.Done()
	patience := time.NewTimer(g.archive.ended)
	defer patience.Stop()
	select {
	case <-written:
	case <-patience.C:
		g.log.Warn("documents may not be kept: server.state_dir seems to hang", "state_dir", g.archive.dir, "waited", g.archive.ended)
	}
}
