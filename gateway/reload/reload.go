package reload

import (
	"errors"
	"fmt"
	"time"

	"drawbridge/config"
	"drawbridge/gateway/generation"
	"drawbridge/gateway/recovery"
	"drawbridge/gateway/telemetry"
	"drawbridge/gateway/widening"
)

// request asks the writer to reread the configuration and all documents.
type request struct {
	done  []chan<- error // receive the outcome; if empty, it is only logged
	asked bool           // an operator requested it and thereby accepts the access that it opens; false after a file change
	again bool           // retries a rejected configuration, in case a file changed just before it was watched
}

// replaceFor is the default of [Options.ReplaceFor], how long newer configurations replace the one whose documents are being read, counted from the first of
// them. Later ones wait for it to finish: otherwise none would come into use while they arrive faster than documents
// are read.
const replaceFor = 5 * time.Second

// takeReload runs a reload now, or queues it if the reload under way must finish first. Waiters get an answer even
// after a panic.
func (w *writer) takeReload(req request) {
	if req.asked {
		w.o.Services.RetryLookups()
	}
	if w.next != nil && time.Since(w.since) >= w.o.ReplaceFor {
		if w.later == nil {
			w.later = &request{}
		}
		w.later.done, w.later.asked = append(w.later.done, req.done...), w.later.asked || req.asked
		return
	}
	if w.step("a configuration was read", func() { w.reload(req) }) {
		reportReload(req.done, recovery.ErrPanicked)
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
func (w *writer) reload(req request) {
	c := w.inUse.Config.WithServices(nil, nil)
	if w.o.LoadConfig != nil {
		var err error
		if c, err = w.o.LoadConfig(nil); err != nil {
			w.refuse(req, err)
			var refusal *config.Refusal
			if errors.As(err, &refusal) {
				w.watch.followRefused(w.inUse, refusal.Files())
			}
			return
		}
	}
	if started := w.o.Started.Server.Listen; c.Auth == nil && !started.Loopback() && !w.o.Local {
		// A configuration without auth is valid for the loopback address that it names, but the open listener is still
		// the old one.
		w.refuse(req, fmt.Errorf("auth: the gateway listens on %s, and a configuration without auth is for loopback addresses; "+
			"keep auth, or restart the gateway", started))
		return
	}
	files := c.Files()
	deployed, err := w.deploy(c) // as a whole: an operator is not asked to accept a configuration that can't work
	if err != nil {
		w.refuse(req, err)
		w.watch.followRefused(w.inUse, files)
		return
	}
	permitted, opens, ok := w.permitted(req, c)
	if !ok {
		w.watch.followRefused(w.inUse, files)
		return
	}
	if permitted != c {
		c = permitted
		if deployed, err = w.deploy(c); err != nil {
			w.refuse(req, err)
			w.watch.followRefused(w.inUse, files)
			return
		}
	}
	w.opened(c.ServedAs(w.o.Started), opens)
	next := w.inUse.succeed(deployed)
	if w.next != nil {
		w.stop(w.next, w.inUse)
		next.waiters = w.next.waiters // waiters for the older reload get the newer one
	} else {
		w.since = time.Now()
	}
	w.turn++
	if req.again {
		next.refusedBefore = w.refused
	}
	next.turn, next.waiters = w.turn, append(next.waiters, req.done...)
	w.next, w.refused = next, ""
	next.APIs.Replace(w.inUse.APIs, w.turn)
	w.start(next)
	if keys := c.RestartKeys(w.o.Started); len(keys) > 0 {
		w.o.Log.Warn("settings changed that take effect at the next start", "keys", keys)
	}
}

// deploy returns the deployment of a configuration that takes the place of the one in use.
func (w *writer) deploy(c *config.Config) (*generation.Deployment, error) {
	return w.o.Deploy(w.withServices(c.ServedAs(w.o.Started)), w.inUse.Deployment)
}

func (w *writer) refuse(req request, err error) {
	logged := req.again && w.refused == err.Error()
	w.refused, w.held = err.Error(), nil
	if !logged {
		w.o.Metrics.Reloaded(telemetry.ReloadFailed)
		w.o.Log.Error("configuration rejected; the last good one stays in use", "error", err)
	}
	w.served.SetStatus(w.served.Current(), w.inUse.Deployment, w.newest())
	reportReload(req.done, err)
}

// fail reports to all waiters that the deployment is not in use.
func (d *deployment) fail(err error) {
	reportReload(d.waiters, fmt.Errorf("reload: %w", err))
	d.waiters = nil
}

// promoteOrRefuse makes the next deployment the current one. It rejects the deployment if one of its restrictions
// matches nothing, or if a document that only this deployment has read would undo a restriction.
func (w *writer) promoteOrRefuse() {
	result := w.next.APIs.CheckSelectors()
	err := errors.Join(result.Unmatched.Err(), w.undoes(w.next))
	if err == nil {
		w.promote()
		return
	}
	next := w.next
	w.next = nil
	w.stop(next, w.inUse)
	w.inUse.APIs.NameSources()
	w.access = widening.Of(w.inUse.Config, w.access)
	w.refused = next.refusedBefore
	w.refuse(request{done: next.waiters, again: next.refusedBefore != ""}, err)
	w.watch.followRefused(w.inUse, next.Config.Files())
}

// undoes returns an error if sources of the next deployment have a quarantined document and none to serve, because
// their settings are new. An operator accepts such a document for the API that is in use, which rereads it now.
func (w *writer) undoes(next *deployment) error {
	var problems []error
	for _, s := range next.APIs.Sources {
		if s.Document != nil || s.Quarantine == nil || s.Quarantine.Unrestricted == nil || w.inUse.APIs.Has(s) {
			continue
		}
		old := w.inUse.APIs.Predecessor(s)
		if old == nil {
			continue
		}
		old.LoadAgain()
		problems = append(problems, fmt.Errorf("%s: the document of API %q is a newer one that would undo restrictions; accept it (POST /apis/%s/accept), or correct the configuration: %s",
			next.APIs.Entries[s], old.Name, old.Name, telemetry.LogNames(s.Quarantine.Unrestricted)))
	}
	return errors.Join(problems...)
}

// promote makes the next deployment the current one.
func (w *writer) promote() {
	old := w.inUse
	w.inUse, w.next, w.starting = w.next, nil, false
	w.inUse.compareWith(old)
	w.release()
	for _, s := range w.inUse.APIs.Sources {
		if s.Quarantine != nil && s.Quarantine.Unrestricted != nil && s.Quarantine.Update == nil {
			s.LoadAgain() // its operations are no longer in memory, and the new configuration may have been written for them
		}
	}
	w.inUse.APIs.NameStored()
	w.o.Recorder.Note(w.access)
	panicked := w.o.Recovery.Step("what is served was built", w.publish)
	w.stop(old, w.inUse)
	w.watch.follow(w.inUse)
	if panicked { // the old tools stay in use until a document changes
		w.o.Metrics.Reloaded(telemetry.ReloadFailed)
		w.inUse.fail(recovery.ErrPanicked)
		return
	}
	if w.o.InUse != nil {
		w.o.InUse(w.inUse.Config)
	}
	w.o.Services.Use(w.inUse.Config)
	w.o.Metrics.Reloaded(telemetry.ReloadOK)
	w.o.Log.Info("configuration in use", "apis", len(w.inUse.APIs.Sources))
	reportReload(w.inUse.waiters, nil)
	w.inUse.waiters = nil
}
