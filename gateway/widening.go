package gateway

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
func (r *runner) permits(req reload, c *config.Config) (opens []string, ok bool) {
	newest := r.inUse
	if r.next != nil {
		newest = r.next
	}
	if newest.config.Auth != nil && c.Auth == nil && !r.options.Local {
		r.refuse(req, errDropsAuth)
		return nil, false
	}
	if r.options.LoadConfig == nil {
		return nil, true // the configuration never changes
	}
	opens = widening.Served{Config: newest.config, APIs: newest.apis}.WiderIn(r.access, c)
	if len(opens) == 0 || req.asked {
		return opens, true
	}
	r.hold(opens)
	reportReload(req.done, errors.New("the configuration is held: "+strings.Join(opens, "; ")))
	return opens, false
}

var errDropsAuth = errors.New("auth: it is gone, and a reload never drops it, because the file may be written by half: " +
	"put it back, or write auth: {anonymous: true} if everybody who reaches the gateway may call")

// hold keeps the configuration in use and reports the access that a newer one would open.
func (r *runner) hold(opens []string) {
	if slices.Equal(r.held, opens) {
		return // already reported
	}
	r.refused, r.held = "", opens
	r.metrics.Reloaded(telemetry.ReloadHeld)
	r.log.Warn("configuration held; the last good one stays in use: the new one would grant more access; send SIGHUP or POST /reload to accept it, or restart with --accept",
		"opens", first(opens), "count", len(opens))
	r.setStatus(r.current(), r.inUse, r.newest())
}

// opened records a configuration that replaces the newest one, with the access that it opens.
func (r *runner) opened(c *config.Config, opens []string) {
	if len(opens) > 0 {
		r.log.Warn("accepted a configuration that grants more access", "opens", first(opens), "count", len(opens))
	}
	r.access, r.held = widening.Of(c, r.access), nil
}

// newRecorder returns the recorder of the access that the configuration in use grants; nil if nothing is recorded.
func newRecorder(o *Options, protect func(what string, step func()) (panicked bool)) *widening.Recorder {
	if o.ConfigFile == "" {
		return nil
	}
	return widening.NewRecorder(widening.RecorderOptions{
		ConfigFile: o.ConfigFile, Dirs: append([]string{o.Config.Server.StateDir.String()}, o.StateDirs...), Logger: o.Logger, Recover: protect,
	})
}
