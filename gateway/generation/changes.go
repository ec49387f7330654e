package generation

import (
	"log/slog"
	"maps"
	"slices"
	"strings"

	"drawbridge/gateway/catalog"
	"drawbridge/gateway/report"
	"drawbridge/gateway/telemetry"
)

// changes logs how a generation differs from the one before it.
type changes struct {
	log  *slog.Logger
	next *Generation
	old  *Generation // nil for the first generation
}

// LogChanges logs how the tools of the generation, and the problems of its configuration, differ from those of the
// generation before it; old is nil for the first one. Each of them is logged once. diff is that of the catalogs.
func (gen *Generation) LogChanges(log *slog.Logger, old *Generation, diff catalog.Diff) {
	c := &changes{log: log, next: gen, old: old}
	c.operations()
	c.uncallable()
	for _, fault := range c.added(func(g *Generation) []string { return g.PromptFaults }) {
		log.Warn("a prompt can't be served", "error", fault)
	}
	for _, fault := range c.added(func(g *Generation) []string { return g.WorkflowFaults }) {
		log.Warn("a workflow can't be served", "error", fault)
	}
	for _, clash := range c.added(func(g *Generation) []string { return g.Clashes }) {
		log.Warn("names clash", "problem", clash)
	}
	for _, problem := range c.added(func(g *Generation) []string { return g.Selectors.Texts() }) {
		log.Warn("a selector of the configuration matches nothing", "problem", problem)
	}
	c.heldBack()
	if old != nil {
		c.tools(diff)
	}
}

// added returns the problems of a kind that the generation before it did not have.
func (c *changes) added(of func(*Generation) []string) []string {
	if c.old == nil {
		return of(c.next)
	}
	known := of(c.old)
	return slices.DeleteFunc(slices.Clone(of(c.next)), func(problem string) bool { return slices.Contains(known, problem) })
}

// operations logs the operation results of each document once.
func (c *changes) operations() {
	for _, name := range slices.Sorted(maps.Keys(c.next.Reports)) {
		f := c.next.Reports[name]
		if c.old != nil && c.old.Reports[name] != nil && c.old.Reports[name].IsSame(f) {
			continue
		}
		c.log.Info("operations", "api", name, "total", f.Counts.Total, "exposed", f.Counts.Exposed, "changed", f.Counts.Changed, "excluded", f.Counts.Excluded, "held", f.Counts.HeldBack,
			"skipped", f.Counts.Skipped, "problem_codes", report.CodeList(f.Problems), "skip_codes", report.CodeList(f.Skips))
	}
}

// uncallable warns once of each API whose calls can't be made, and of those of a part of its tools.
func (c *changes) uncallable() {
	for _, name := range slices.Sorted(maps.Keys(c.next.Reports)) {
		all, part := c.next.Reports[name].CallFaults()
		var allBefore, partBefore []string
		if c.old != nil && c.old.Reports[name] != nil {
			allBefore, partBefore = c.old.Reports[name].CallFaults()
		}
		if len(all) > 0 && !slices.Equal(all, allBefore) {
			c.log.Warn("calls of an API can't be made", "api", name, "reason", strings.Join(all, "; "))
		}
		if len(part) > 0 && !slices.Equal(part, partBefore) {
			c.log.Warn("calls of some tools can't be made", "api", name, "reason", strings.Join(part, "; "))
		}
	}
}

// tools logs the changes of the list of tools (S10). Tools that have become destructive are named in a separate
// warning, except those of a document that is read for the first time: at startup each document is, one after the
// other, and a document that could not be read is again once it can be.
func (c *changes) tools(diff catalog.Diff) {
	if diff.Empty() {
		return
	}
	c.log.Info("tools changed", "added", len(diff.Added), "removed", len(diff.Removed), "changed", len(diff.Changed),
		"added_tools", telemetry.LogNames(diff.Added), "removed_tools", telemetry.LogNames(diff.Removed), "changed_tools", telemetry.LogNames(diff.Changed))
	var destructive []string
	for _, name := range slices.Concat(diff.Added, diff.Changed) {
		tool, before := c.next.Catalog.Lookup(name), c.old.Catalog.Lookup(name)
		if tool.Annotations.Destructive && (before == nil || !before.Annotations.Destructive) && c.old.knows(tool.API, c.next.documents[tool.API]) {
			destructive = append(destructive, name)
		}
	}
	if len(destructive) > 0 {
		c.log.Warn("new destructive tools", "count", len(destructive), "tools", telemetry.LogNames(destructive))
	}
}

// knows reports whether an API of that name, or of a document from that location, was served: an API is renamed when
// its document changes its title.
func (gen *Generation) knows(api, document string) bool {
	if _, ok := gen.documents[api]; ok {
		return true
	}
	for _, location := range gen.documents {
		if location == document {
			return true
		}
	}
	return false
}

// heldBack warns once of each change of the tools that are held back, and of those that are approved under their
// former names.
func (c *changes) heldBack() {
	gen, old := c.next, c.old
	if len(gen.RenamedApprovals) > 0 && (old == nil || !slices.Equal(gen.RenamedApprovals, old.RenamedApprovals)) {
		c.log.Warn("tools are approved under former names: rewrite the file with \"drawbridge lock --config FILE\"",
			"count", len(gen.RenamedApprovals), "tools", telemetry.LogNames(gen.RenamedApprovals))
	}
	reasonsOf := func(gen *Generation) (reasons []string) {
		for _, t := range gen.HeldBack { // sorted by name
			reasons = append(reasons, gen.Unapproved[t.Operation])
		}
		return reasons
	}
	now := reasonsOf(gen)
	if len(now) == 0 || old != nil && slices.Equal(now, reasonsOf(old)) {
		return
	}
	c.log.Warn("tools are not served until they are approved: review them with \"drawbridge lock --config FILE --check\", and approve them with \"drawbridge lock --config FILE\"",
		"count", len(now), "tools", telemetry.LogNames(now))
}
