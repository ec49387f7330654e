package gateway

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"drawbridge/config"
	"drawbridge/gateway/admin"
	"drawbridge/gateway/catalog"
	"drawbridge/gateway/source"
	"drawbridge/openapi"
)

// reasonUnapproved is the reason code of a tool that is held back for lack of approval.
const reasonUnapproved = "not-approved"

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

// unapproved returns the reason why a tool is held back; "" if it is approved.
func unapproved(l *config.Lock, s *source.Source, t *catalog.Tool) string {
	now := s.LockedTool(t)
	approved, ok := l.Approval(now)
	if !ok {
		return "the tool " + t.Name + " is new"
	}
	if differs := now.Differs(approved); len(differs) > 0 {
		return "the tool " + t.Name + " has another " + strings.Join(differs, ", ") + " than was approved"
	}
	return ""
}

// holdBack removes tools without approval from the catalog. They get no plan, so that no call, resource, prompt,
// completion or task can reach them.
func (gen *generation) holdBack(l *config.Lock, sources map[string]*source.Source) {
	if l == nil {
		return
	}
	gen.unapproved = map[*openapi.Operation]string{}
	gen.catalog = gen.catalog.Only(func(t *catalog.Tool) bool {
		why := unapproved(l, sources[t.API], t)
		if why == "" {
			if was := formerlyApproved(l, t); was != "" {
				gen.renamed = append(gen.renamed, was)
			}
			return true
		}
		gen.unapproved[t.Operation] = why
		gen.heldBack = append(gen.heldBack, t)
		return false
	})
}

// formerlyApproved describes the names of the previous release under which a tool is approved; "" if it is approved
// under its current names.
func formerlyApproved(l *config.Lock, t *catalog.Tool) string {
	approved, ok := l.Of(t.Name)
	switch {
	case !ok:
		return t.Former + " is now " + t.Name
	case approved.API != t.API:
		return t.Name + " of " + approved.API + " is now of " + t.API
	}
	return ""
}

// heldReason returns the reason for operators why a tool is held back.
func heldReason(why string) admin.Reason {
	return admin.Reason{Code: reasonUnapproved, Message: why + "; drawbridge lock --config FILE approves it"}
}

// logHeldBack warns once of each change of the tools that are held back, and of those that are approved under their
// former names.
func (g *Gateway) logHeldBack(gen, old *generation) {
	if len(gen.renamed) > 0 && (old == nil || !slices.Equal(gen.renamed, old.renamed)) {
		g.log.Warn("tools have other names than were approved, which the next release will not know: write the file anew with \"drawbridge lock --config FILE\"",
			"count", len(gen.renamed), "tools", first(gen.renamed))
	}
	reasonsOf := func(gen *generation) (reasons []string) {
		for _, t := range gen.heldBack { // sorted by name
			reasons = append(reasons, gen.unapproved[t.Operation])
		}
		return reasons
	}
	now := reasonsOf(gen)
	if len(now) == 0 || old != nil && slices.Equal(now, reasonsOf(old)) {
		return
	}
	g.log.Warn("tools are held back until they are approved: see what \"drawbridge lock --config FILE --check\" says, and approve them with \"drawbridge lock --config FILE\"",
		"count", len(now), "tools", first(now))
}

// Lock returns the lock entries that would approve the tools of the generation in use. It is for [Gateway.Load] with
// [Options].Unlocked.
func (g *Gateway) Lock() *config.Lock {
	var tools []config.LockedTool
	if gen := g.current.Load(); gen != nil {
		for _, t := range gen.catalog.All() {
			tools = append(tools, gen.main.plans[t.Name].source.LockedTool(t))
		}
	}
	return config.NewLock(tools)
}
