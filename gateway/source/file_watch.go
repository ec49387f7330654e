package source

import (
	"context"
	"slices"
	"sync"

	"drawbridge/gateway/filewatch"
	"drawbridge/gateway/signal"
)

// fileWatch watches the files of one document, one set of files at a time.
type fileWatch struct {
	deps    *Deps
	label   string // of the source, for the log
	changed chan struct{}
	files   []string
	cancel  context.CancelFunc
	running sync.WaitGroup
}

// start watches a set of files and reports whether it differs from the current one.
func (w *fileWatch) start(ctx context.Context, files []string) bool {
	if slices.Equal(files, w.files) {
		return false
	}
	watcher := filewatch.New(files, filewatch.Options{Notifier: w.deps.Files}) // first, so that the old watch can still be ended if this panics
	old := w.cancel
	w.files = files
	ctx, w.cancel = context.WithCancel(ctx)
	w.running.Go(func() {
		w.deps.Keep(ctx, "a document was watched", func() {
			if err := watcher.Run(ctx, func(string) { signal.Raise(w.changed) }); err != nil {
				w.deps.Logger.Warn("watching a document failed", "api", w.label, "error", err)
			}
		})
	})
	if old != nil {
		old()
	}
	return true
}

// stop ends the watch and waits for its goroutines.
func (w *fileWatch) stop() {
	if w.cancel != nil {
		w.cancel()
	}
	w.running.Wait()
}
