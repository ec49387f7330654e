package reload

import (
	"context"
	"log/slog"
	"slices"

	"drawbridge/config"
	"drawbridge/gateway/filewatch"
	"drawbridge/gateway/recovery"
	"drawbridge/gateway/signal"
)

// configWatch triggers reloads when a file of the configuration changes. It belongs to the goroutine of the writer.
type configWatch struct {
	changed  chan struct{} // signals a change of a configuration file; its capacity is 1
	off      bool          // the configuration never changes
	spawn    func(f func(ctx context.Context) error) context.CancelFunc
	recovery *recovery.Recoverer
	log      *slog.Logger

	files []string           // configuration files that are watched
	end   context.CancelFunc // ends the watch of files; nil if there is none
	again bool               // the next signal concerns a rejected configuration
}

// takeAgain reports whether the signal that was received concerns a rejected configuration.
func (w *configWatch) takeAgain() bool {
	again := w.again
	w.again = false
	return again
}

// follow watches the files of a deployment.
func (w *configWatch) follow(d *deployment) {
	if w.set(d.Files()) && d.Config.Outdated() {
		signal.Raise(w.changed) // a document was added or removed after the configuration was loaded
	}
}

// followRefused watches the files of a rejected configuration in addition to those of the deployment in use: a missing
// part, such as a secret from another mount, may appear later.
func (w *configWatch) followRefused(inUse *deployment, files []string) {
	files = append(inUse.Files(), files...)
	slices.Sort(files)
	w.again = w.set(slices.Compact(files))
}

// set watches files instead of those before. It reports whether they are others.
func (w *configWatch) set(files []string) bool {
	if w.off || slices.Equal(files, w.files) {
		return false
	}
	if old := w.end; old != nil {
		defer old()             // after the next watcher has started, so that no change is missed
		signal.Raise(w.changed) // a newly watched file may have changed since it was read
	}
	w.files = files
	watcher := filewatch.New(files, filewatch.Options{Counts: config.IsSourceName})
	w.end = w.spawn(func(ctx context.Context) error {
		w.recovery.Keep(ctx, "the configuration was watched", func() {
			if err := watcher.Run(ctx, func(string) { signal.Raise(w.changed) }); err != nil {
				w.log.Warn("watching the configuration failed", "error", err)
			}
		})
		return nil
	})
	return true
}
