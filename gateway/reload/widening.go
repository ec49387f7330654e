package reload

import (
	"errors"
	"slices"
	"strings"

	"drawbridge/config"
	"drawbridge/gateway/telemetry"
	"drawbridge/gateway/widening"
)

// permits reports whether a configuration may replace the newest one. One that drops auth never may. One that grants
// more access, which a half-written file may, is held until an operator requests it. opens lists the access that it
// opens.
func (w *writer) permits(req request, c *config.Config) (opens []string, ok bool) {
	newest := w.inUse
	if w.next != nil {
		newest = w.next
	}
	if newest.Config.Auth != nil && c.Auth == nil && !w.o.Local {
		w.refuse(req, errDropsAuth)
		return nil, false
	}
	if w.o.LoadConfig == nil {
		return nil, true // the configuration never changes
	}
	opens = widening.Served{Config: newest.Config, APIs: newest.APIs}.WiderIn(w.access, c)
	if len(opens) == 0 || req.asked {
		return opens, true
	}
	w.hold(opens)
	reportReload(req.done, errors.New("the configuration is held: "+strings.Join(opens, "; ")))
	return opens, false
}

var errDropsAuth = errors.New("auth: it is gone, and a reload never drops it, because the file may be written by half: " +
	"put it back, or write auth: {anonymous: true} if everybody who reaches the gateway may call")

// hold keeps the configuration in use and reports the access that a newer one would open.
func (w *writer) hold(opens []string) {
	if slices.Equal(w.held, opens) {
		return // already reported
	}
	w.refused, w.held = "", opens
	w.o.Metrics.Reloaded(telemetry.ReloadHeld)
	w.o.Log.Warn("configuration held; the last good one stays in use: the new one would grant more access; send SIGHUP or POST /reload to accept it, or restart with --accept",
		"opens", telemetry.LogNames(opens), "count", len(opens))
	w.served.SetStatus(w.served.Current(), w.inUse.Deployment, w.newest())
}

// opened records a configuration that replaces the newest one, with the access that it opens.
func (w *writer) opened(c *config.Config, opens []string) {
	if len(opens) > 0 {
		w.o.Log.Warn("accepted a configuration that grants more access", "opens", telemetry.LogNames(opens), "count", len(opens))
	}
	w.access, w.held = widening.Of(c, w.access), nil
}
