package gateway

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"drawbridge/config"
	"drawbridge/gateway/telemetry"
	"drawbridge/gateway/widening"
)

// reload is a request to reread the configuration and all documents.
type reload struct {
	done  []chan<- error // receive the outcome; if empty, it is only logged
	asked bool           // an operator requested it and thereby accepts the access that it opens; false after a file change
	again bool           // retries a rejected configuration, in case a file changed just before it was watched
}

// replaceFor is how long newer configurations replace the one whose documents are being read, counted from the first of
// them. Later ones wait for it to finish: otherwise none would come into use while they arrive faster than documents
// are read.
const replaceFor = 5 * time.Second

// takeReload runs a reload now, or queues it if the reload under way must finish first. Waiters get an answer even
// after a panic.
func (r *runner) takeReload(req reload) {
	if r.next != nil && time.Since(r.since) >= r.options.replaceFor {
		if r.later == nil {
			r.later = &reload{}
		}
		r.later.done, r.later.asked = append(r.later.done, req.done...), r.later.asked || req.asked
		return
	}
	if r.surviving("a configuration was read", func() { r.reload(req) }) {
		reportReload(req.done, errStepPanicked)
	}
}

// reportReload sends the outcome of a reload to the waiters that still receive.
func reportReload(done []chan<- error, err error) {
	for _, d := range done {
		select {
		case d <- err:
		default:
		}
	}
}

// reload starts the replacement of the configuration. The new one is served when all of its sources have tried to load
// their documents.
func (r *runner) reload(req reload) {
	c := r.inUse.config
	if r.options.LoadConfig != nil {
		var err error
		if c, err = r.options.LoadConfig(); err != nil {
			r.refuse(req, err)
			var refusal *config.Refusal
			if errors.As(err, &refusal) {
				r.watchRefused(refusal.Files())
			}
			return
		}
	}
	if started := r.options.Config.Server.Listen; c.Auth == nil && !started.Loopback() && !r.options.Local {
		// A configuration without auth is valid for the loopback address that it names, but the open listener is still
		// the old one.
		r.refuse(req, fmt.Errorf("auth: the gateway listens on %s, and a configuration without auth is for loopback addresses; "+
			"keep auth, or restart the gateway", started))
		return
	}
	served := c.ServedAs(r.options.Config)
	opens, ok := r.permits(req, served)
	if !ok {
		r.watchRefused(c.Files())
		return
	}
	next, err := r.deploy(served, r.inUse)
	if err != nil {
		r.refuse(req, err)
		r.watchRefused(c.Files())
		return
	}
	r.opened(served, opens)
	if r.next != nil {
		r.stop(r.next, r.inUse)
		next.waiters = r.next.waiters // waiters for the older reload get the newer one
	} else {
		r.since = time.Now()
	}
	r.turn++
	if req.again {
		next.refusedBefore = r.refused
	}
	next.turn, next.waiters = r.turn, append(next.waiters, req.done...)
	r.next, r.refused = next, ""
	next.apis.Replace(r.inUse.apis, r.turn)
	r.start(next)
	if keys := c.RestartKeys(r.options.Config); len(keys) > 0 {
		r.log.Warn("settings changed that take effect at the next start", "keys", keys)
	}
}

func (r *runner) refuse(req reload, err error) {
	logged := req.again && r.refused == err.Error()
	r.refused, r.held = err.Error(), nil
	if !logged {
		r.metrics.Reloaded(telemetry.ReloadFailed)
		r.log.Error("configuration rejected; the last good one stays in use", "error", err)
	}
	r.setStatus(r.current(), r.inUse, r.newest())
	reportReload(req.done, err)
}

func (r *runner) fail(d *deployment, err error) {
	reportReload(d.waiters, fmt.Errorf("reload: %w", err))
	d.waiters = nil
}

// promoteOrRefuse makes the next deployment the current one. It rejects the deployment if one of its restrictions
// matches nothing, or if a document that only this deployment has read would undo a restriction.
func (r *runner) promoteOrRefuse() {
	result := r.next.apis.CheckSelectors()
	err := errors.Join(result.Unmatched.Err(), r.undoes(r.next))
	if err == nil {
		r.promote()
		return
	}
	next := r.next
	r.next = nil
	r.stop(next, r.inUse)
	r.inUse.apis.NameSources()
	r.access = widening.Of(r.inUse.config, r.access)
	r.refused = next.refusedBefore
	r.refuse(reload{done: next.waiters, again: next.refusedBefore != ""}, err)
	r.watchRefused(next.config.Files())
}

// undoes returns an error if sources of the next deployment have a quarantined document and none to serve, because
// their settings are new. An operator accepts such a document for the API that is in use, which rereads it now.
func (r *runner) undoes(next *deployment) error {
	var problems []error
	for _, s := range next.apis.Sources {
		if s.Document != nil || s.Quarantine == nil || s.Quarantine.Unrestricted == nil || r.inUse.apis.Has(s) {
			continue
		}
		old := r.inUse.apis.Predecessor(s)
		if old == nil {
			continue
		}
		old.Reread()
		problems = append(problems, fmt.Errorf("%s: the document of API %q is a newer one that would undo restrictions; accept it (POST /apis/%s/accept), or correct the configuration: %s",
			next.apis.Entries[s], old.Name, old.Name, first(s.Quarantine.Unrestricted)))
	}
	return errors.Join(problems...)
}

// promote makes the next deployment the current one.
func (r *runner) promote() {
	old := r.inUse
	r.inUse, r.next, r.starting = r.next, nil, false
	r.release()
	for _, s := range r.inUse.apis.Sources {
		if s.Quarantine != nil && s.Quarantine.Unrestricted != nil && s.Quarantine.Update == nil {
			s.Reread() // its operations are no longer in memory, and the new configuration may have been written for them
		}
	}
	r.inUse.apis.NameStored()
	r.record.Note(r.access)
	panicked := r.survive("what is served was built", r.publish)
	r.stop(old, r.inUse)
	r.watchConfig(r.inUse)
	if panicked { // the old tools stay in use until a document changes
		r.metrics.Reloaded(telemetry.ReloadFailed)
		r.fail(r.inUse, errStepPanicked)
		return
	}
	if r.options.InUse != nil {
		r.options.InUse(r.inUse.config)
	}
	r.metrics.Reloaded(telemetry.ReloadOK)
	r.log.Info("configuration in use", "apis", len(r.inUse.apis.Sources))
	reportReload(r.inUse.waiters, nil)
	r.inUse.waiters = nil
}

// watchConfig triggers a reload when a file of the configuration changes.
func (r *runner) watchConfig(d *deployment) {
	if r.watchFiles(d.files()) && d.config.Outdated() {
		signal(r.changed) // a document was added or removed after the configuration was loaded
	}
}

// watchRefused is watchFiles for the files of a rejected configuration in addition to those of the one in use: a
// missing part, such as a secret from another mount, may appear later.
func (r *runner) watchRefused(files []string) {
	files = append(r.inUse.files(), files...)
	slices.Sort(files)
	r.again = r.watchFiles(slices.Compact(files))
}

// watchFiles triggers a reload when one of the files changes. It reports whether other files were watched before.
func (r *runner) watchFiles(files []string) bool {
	if r.options.LoadConfig == nil || slices.Equal(files, r.watched) {
		return false
	}
	if old := r.watch; old != nil {
		defer old()       // after the next watcher has started, so that no change is missed
		signal(r.changed) // a newly watched file may have changed since it was read
	}
	r.watched = files
	watcher := config.NewWatcher(files)
	r.watch = r.spawn(func(ctx context.Context) error {
		r.keep(ctx, "the configuration was watched", func() {
			if err := watcher.Run(ctx, func(string) { signal(r.changed) }); err != nil {
				r.log.Warn("watching the configuration failed", "error", err)
			}
		})
		return nil
	})
	return true
}

// signal sends to a channel with a capacity of 1 unless a signal is pending.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
