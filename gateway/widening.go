package gateway

import (
	"errors"
	"fmt"
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
	newest := r.current
	if r.next != nil {
		newest = r.next
	}
	if newest.config.Auth != nil && c.Auth == nil && !r.g.o.Local {
		r.refuse(req, errDropsAuth)
		return nil, false
	}
	if r.g.o.LoadConfig == nil {
		return nil, true // the configuration never changes
	}
	opens = newest.widens(r.access, c)
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
	if slices.Equal(r.g.held, opens) {
		return // already reported
	}
	r.refused, r.g.held = "", opens
	r.g.metrics.Reloaded(telemetry.ReloadHeld)
	r.g.log.Warn("configuration held, the last good one stays: it would open access; send SIGHUP or POST /reload to accept it, or restart with --accept",
		"opens", first(opens), "count", len(opens))
	r.g.setStatus(r.g.current.Load(), r.current, "")
}

// opened records a configuration that replaces the newest one, with the access that it opens.
func (r *runner) opened(c *config.Config, opens []string) {
	if len(opens) > 0 {
		r.g.log.Warn("configuration accepted that opens access", "opens", first(opens), "count", len(opens))
	}
	r.access, r.g.held = widening.Of(c, r.access), nil
}

// compareWithRecord compares the configuration with the access that the last configuration of the same file granted.
// The error lists the access beyond it, unless --accept is set. Dropping auth is an error even with --accept: a
// truncated file must not open a service that is always started with that flag.
func (g *Gateway) compareWithRecord() error {
	o := &g.o
	if o.ConfigFile == "" {
		return nil
	}
	g.record = widening.NewRecorder(widening.RecorderOptions{
		ConfigFile: o.ConfigFile, Dirs: append([]string{o.Config.Server.StateDir.String()}, o.StateDirs...), Logger: g.log, Recover: g.survive,
	})
	if g.record == nil {
		return nil
	}
	last, err := g.record.Read()
	switch {
	case err != nil && o.Config.Auth == nil && !o.Local:
		return fmt.Errorf("auth: %s has none, and nothing tells whether the last configuration that ran here had it: %w; put auth back, remove the record, "+
			"or write auth: {anonymous: true} if everybody who reaches the gateway may call", o.ConfigFile, err)
	case err != nil:
		g.log.Warn("the configuration is not compared with the last one that ran", "error", err)
		return nil
	case last == nil:
		return nil
	}
	if last.Auth != nil && o.Config.Auth == nil && !o.Local {
		return fmt.Errorf("auth: %s has none, and the last configuration that ran here had it (%s): the file may be cut short; "+
			"put auth back, or write auth: {anonymous: true} if everybody who reaches the gateway may call", o.ConfigFile, strings.Join(g.record.Files(), ", "))
	}
	opens := widening.Wider(last, widening.Of(o.Config, last), nil)
	if len(opens) == 0 {
		return nil
	}
	if o.Accept {
		g.log.Warn("configuration accepted that opens access", "opens", first(opens), "count", len(opens))
		return nil
	}
	return fmt.Errorf("%s would open access that the last configuration that ran here did not give (%s): if that is meant, start with --accept\n  %s",
		o.ConfigFile, strings.Join(g.record.Files(), ", "), strings.Join(first(opens), "\n  "))
}
