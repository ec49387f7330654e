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
	endPatience   = 2 * time.Second // for those that are to be written at the end
)

// take returns the document of an API; nil if there is none, which is logged if it is there and can't be used, or does not come in time.
func (s *archive) take(ctx context.Context, id, label string) *archived {
	if s == nil {
		return nil
	}
	type file struct {
		text []byte
		err  error
	}
	read := make(chan file, 1)
	go func() {
		text, err := s.read(id)
		read <- file{text, err}
	}()
	patience := time.NewTimer(s.start)
	defer patience.Stop()
	var f file
	select {
	case f = <-read:
	case <-patience.C:
		f.err = fmt.Errorf("it can't be read within %s; server.state_dir seems to hang", s.start)
	case <-ctx.Done():
		return nil
	}
	var doc *archived
	if f.err == nil {
		doc, f.err = decodeArchived(f.text, id)
	}
	if f.err != nil && !errors.Is(f.err, fs.ErrNotExist) {
		s.log.Warn("the document that was kept can't be used", "api", label, "file", s.path(id), "error", f.err)
	}
	return doc
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
