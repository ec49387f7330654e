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

// permits reports whether a configuration that was read may be taken over. One that drops auth never is. One that gives more access than the
// newest does, which a file may that was written by half, is held until somebody asks for it. opens lists what it opens.
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
		return nil, true // it is the same
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

// hold leaves the last good configuration in use, and says what a newer one would open.
func (r *runner) hold(opens []string) {
	if slices.Equal(r.g.held, opens) {
		return // it is told
	}
	r.refused, r.g.held = "", opens
	r.g.metrics.Reloaded(telemetry.ReloadHeld)
	r.g.log.Warn("configuration held, the last good one stays: it would open access; send SIGHUP or POST /reload to accept it, or restart with --accept",
		"opens", first(opens), "count", len(opens))
	r.g.setStatus(r.g.current.Load(), r.current, "")
}

// opened notes a configuration that is taken over, with what it opens.
func (r *runner) opened(c *config.Config, opens []string) {
	if len(opens) > 0 {
		r.g.log.Warn("configuration accepted that opens access", "opens", first(opens), "count", len(opens))
	}
	r.access, r.g.held = widening.Of(c, r.access), nil
}

// compareWithRecord reads what the last configuration of the same file allowed. The error tells what this one allows beyond it, or that it drops auth,
// which --accept does not permit: a service that is always started with it must not be opened by a file that was cut short.
func (g *Gateway) compareWithRecord() error {
	o := &g.o
	if o.ConfigFile == "" {
		return nil
	}
	g.record = newAccessRecord(o, g.log, g.survive)
	if g.record == nil {
		return nil
	}
	last, err := g.record.read()
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
			"put auth back, or write auth: {anonymous: true} if everybody who reaches the gateway may call", o.ConfigFile, strings.Join(g.record.files, ", "))
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
		o.ConfigFile, strings.Join(g.record.files, ", "), strings.Join(first(opens), "\n  "))
}
