package gateway

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"drawbridge/config"
)

// lockOf reads tools.lock; nil if approval is off.
func (g *Gateway) lockOf(c *config.Config) (*config.Lock, error) {
	if c.Tools.Lock == "" || g.o.Unlocked {
		return nil, nil //nolint:nilnil // every tool is approved
	}
	l, err := config.ReadLock(c.Tools.Lock.String())
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w; drawbridge lock --config FILE writes it", err)
	}
	if err == nil && l.Unknown() != "" {
		err = fmt.Errorf("%s: is of version %d, which does not approve %s as this version of drawbridge does; see what has changed with "+
			"\"drawbridge lock --config FILE --check\", then approve it with \"drawbridge lock --config FILE\"", c.Tools.Lock, l.Version, l.Unknown())
	}
	if err != nil {
		return nil, c.Wrong("tools.lock", err)
	}
	return l, nil
}

// logHeldBack warns once of each change of the tools that are held back, and of those that are approved under their
// former names.
func (g *Gateway) logHeldBack(gen, old *generation) {
	if len(gen.RenamedApprovals) > 0 && (old == nil || !slices.Equal(gen.RenamedApprovals, old.RenamedApprovals)) {
		g.log.Warn("tools are approved under former names, which the next release will not recognize: rewrite the file with \"drawbridge lock --config FILE\"",
			"count", len(gen.RenamedApprovals), "tools", first(gen.RenamedApprovals))
	}
	reasonsOf := func(gen *generation) (reasons []string) {
		for _, t := range gen.HeldBack { // sorted by name
			reasons = append(reasons, gen.Unapproved[t.Operation])
		}
		return reasons
	}
	now := reasonsOf(gen)
	if len(now) == 0 || old != nil && slices.Equal(now, reasonsOf(old)) {
		return
	}
	g.log.Warn("tools are not served until they are approved: review them with \"drawbridge lock --config FILE --check\", and approve them with \"drawbridge lock --config FILE\"",
		"count", len(now), "tools", first(now))
}

// Lock returns the lock entries that would approve the tools of the generation in use. It is for [Gateway.Load] with
// [Options].Unlocked.
func (g *Gateway) Lock() *config.Lock {
	var tools []config.LockedTool
	if gen := g.current.Load(); gen != nil {
		for _, t := range gen.Catalog.All() {
			tools = append(tools, gen.Main.Plans[t.Name].Source.LockedTool(t))
		}
	}
	return config.NewLock(tools)
}
