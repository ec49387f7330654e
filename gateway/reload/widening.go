package reload

import (
	"errors"
	"slices"
	"strings"

	"drawbridge/config"
	"drawbridge/gateway/telemetry"
	"drawbridge/gateway/widening"
)

// permitted returns the configuration that may replace the newest one, and the access that it opens. One that drops auth never may. One that
// grants more access, which a half-written file may, is held until an operator requests it. If only some parts of it grant more, it is permitted
// with these parts as they are in use.
func (w *writer) permitted(req request, c *config.Config) (permitted *config.Config, opens []string, ok bool) {
	newest := w.newestDeployment()
	if newest.Config.Auth != nil && c.Auth == nil && !w.o.Local {
		w.refuse(req, errDropsAuth)
		return nil, nil, false
	}
	if w.o.LoadConfig == nil {
		return c, nil, true // the configuration never changes
	}
	opens = w.opens(c)
	if len(opens) == 0 {
		w.held = nil
		return c, nil, true
	}
	opens, rest := w.separate(c, opens)
	if req.asked {
		w.held = nil
		return c, opens, true
	}
	w.hold(opens, rest != nil)
	if rest != nil {
		return rest, nil, true
	}
	reportReload(req.done, errors.New("the configuration is held: "+strings.Join(opens, "; ")))
	return nil, nil, false
}

// newestDeployment returns the deployment that a configuration is compared with.
func (w *writer) newestDeployment() *deployment {
	if w.next != nil {
		return w.next
	}
	return w.inUse
}

// opens lists the access that a configuration grants beyond the newest one.
func (w *writer) opens(c *config.Config) []string {
	newest := w.newestDeployment()
	return widening.Served{Config: newest.Config, APIs: newest.APIs}.WiderIn(w.access, c.ServedAs(w.o.Started))
}

var errDropsAuth = errors.New("auth: it is gone, and a reload never drops it, because the file may be written by half: " +
	"put it back, or write auth: {anonymous: true} if everybody who reaches the gateway may call")

// hold keeps the configuration in use, or parts of it, and reports the access that a newer one would open.
func (w *writer) hold(opens []string, others bool) {
	if slices.Equal(w.held, opens) {
		return // already reported
	}
	w.refused, w.held = "", opens
	w.o.Metrics.Reloaded(telemetry.ReloadHeld)
	w.o.Log.Warn("configuration held; the last good one stays in use: the new one would grant more access; send SIGHUP or POST /reload to accept it, or restart with --accept",
		"opens", telemetry.LogNames(opens), "count", len(opens), "other_files_in_use", others)
	w.served.SetStatus(w.served.Current(), w.inUse.Deployment, w.newest())
}

// opened records a configuration that replaces the newest one, with the access that it opens.
func (w *writer) opened(c *config.Config, opens []string) {
	if len(opens) > 0 {
		w.o.Log.Warn("accepted a configuration that grants more access", "opens", telemetry.LogNames(opens), "count", len(opens))
	}
	w.access = widening.Of(c, w.access)
}
