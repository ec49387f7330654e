package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"drawbridge/config"
	"drawbridge/gateway"
)

// comparison is what differs between an earlier version or file and what this version would serve.
type comparison struct {
	Against  string          `json:"against"`            // as given
	Kind     string          `json:"kind"`               // what that is: version, tools, manifest, report or lock
	Defaults []defaultChange `json:"defaults,omitempty"` // that the configuration does not set
	Lists    []listChange    `json:"lists,omitempty"`
	Tools    []toolChange    `json:"tools"`
	Before   int             `json:"before"` // number of tools
	Now      int             `json:"now"`
	// NotCompared is what can't be compared, and why.
	NotCompared []string `json:"not_compared,omitempty"`
}

// defaultChange is a default that a release changed.
type defaultChange struct {
	What    string `json:"what"`
	Was     string `json:"was"`
	Now     string `json:"now"`
	Restore string `json:"restore"`
}

// listChange is another presentation of an endpoint. One that is missing is "".
type listChange struct {
	Endpoint string `json:"endpoint"`
	Was      string `json:"was,omitempty"`
	Now      string `json:"now,omitempty"`
	Reason   string `json:"reason,omitempty"` // of the present one
}

// toolChange is a tool that is added, removed, renamed or changed.
type toolChange struct {
	Change string `json:"change"`
	Name   string `json:"name"`
	Was    string `json:"was,omitempty"` // the former name of a renamed tool
	// Callable reports that calls by the former name reach the tool.
	Callable bool         `json:"was_callable,omitempty"`
	API      string       `json:"api,omitempty"`
	Method   string       `json:"method,omitempty"`
	Path     string       `json:"path,omitempty"`
	Places   []difference `json:"places,omitempty"` // of the definition
	Parts    []string     `json:"parts,omitempty"`  // against approvals, which have digests: what differs
}

// differs reports whether anything differs.
func (c *comparison) differs() bool { return len(c.Defaults)+len(c.Lists)+len(c.Tools) > 0 }

// target is what check --against compares with: a release, or what a file has.
type target struct {
	text    string
	release *config.Release
	file    *earlier
}

// parseTarget reads the value of --against. A version number is a version, and a file of that name is given as ./NAME.
func parseTarget(text string) (*target, error) {
	if release, ok := config.ParseRelease(text); ok {
		return &target{text: text, release: &release}, nil
	}
	file, err := readEarlier(text)
	if err != nil {
		return nil, fmt.Errorf("check: --against %q is no version such as 0.1.0 (0 stands for the time before the first release), and as a file it %w", text, err)
	}
	return &target{text: text, file: file}, nil
}

// compare compares what g would serve with the target.
func (p *program) compare(ctx context.Context, t *target, location string, g *gateway.Gateway, outcomes []gateway.Outcome, f *filter) (*comparison, error) {
	c := &comparison{Against: t.text, Kind: ofVersion, Tools: []toolChange{}}
	for _, o := range outcomes {
		if o.Err != nil {
			c.NotCompared = append(c.NotCompared, fmt.Sprintf("the tools of %s, which can't be served", o.Name))
		}
	}
	now, err := present(g)
	if err != nil {
		return nil, err
	}
	before := t.file
	if t.release != nil {
		if before, err = p.asOf(ctx, *t.release, location); err != nil {
			return nil, err
		}
		for _, d := range config.DefaultChanges(*t.release) {
			if g.Config().IsDefault(d) {
				c.Defaults = append(c.Defaults, defaultChange{d.What, d.Was, d.Now, d.Restore})
			}
		}
	} else {
		c.Kind = before.kind
	}
	c.Lists = c.listChanges(before.lists, now.lists)
	if before.kind == ofLock {
		err = p.compareLock(ctx, c, location, before.lock)
	} else {
		c.Before, c.Now = len(before.tools), len(now.tools)
		c.Tools = toolChanges(before.tools, now.tools)
	}
	if before.kind == ofReport {
		c.NotCompared = append(c.NotCompared, "descriptions and schemas: a report of check --json does not have them")
	}
	c.explainRemoved(outcomes)
	c.Tools = slices.DeleteFunc(c.Tools, func(t toolChange) bool {
		return !f.match(listed{"name": {t.Name, t.Was}, "api": {t.API}, "method": {t.Method}, "path": {t.Path}})
	})
	return c, err
}

// asOf loads the same configuration with the defaults of a release.
func (p *program) asOf(ctx context.Context, release config.Release, location string) (*earlier, error) {
	o := p.loadOptions()
	o.AsOf = &release
	cfg, problems := config.LoadWith(location, p.getenv, o)
	if cfg == nil {
		return nil, fmt.Errorf("check: the configuration can't be read with the defaults of %s: %w", release, problems.Err())
	}
	g, _, err := p.loadConfig(ctx, cfg, gateway.Options{})
	if err != nil {
		return nil, err
	}
	before, err := present(g)
	if err != nil {
		return nil, err
	}
	for i := range before.tools {
		t := &before.tools[i]
		if len(t.former) > 0 && len(config.DefaultChanges(release)) > 0 {
			t.name = t.former[0] // this version names it anew, whatever the defaults
		}
		t.former = nil
	}
	return before, nil
}

// listChanges returns the endpoints whose lists show something else.
func (c *comparison) listChanges(before, now []knownList) []listChange {
	if before == nil {
		c.NotCompared = append(c.NotCompared, fmt.Sprintf("whether lists show all tools or search: %s does not say it", c.Against))
		return nil
	}
	var changes []listChange
	known := map[string]string{}
	for _, list := range before {
		known[list.Endpoint] = list.Presentation
	}
	for _, list := range now {
		if was := known[list.Endpoint]; was != list.Presentation {
			changes = append(changes, listChange{list.Endpoint, was, list.Presentation, list.Reason})
		}
		delete(known, list.Endpoint)
	}
	for _, list := range before {
		if _, gone := known[list.Endpoint]; gone {
			changes = append(changes, listChange{Endpoint: list.Endpoint, Was: list.Presentation})
		}
	}
	return changes
}

// toolChanges compares definitions. A tool is known again by its name, its former name, or its operation if it is the only one of that.
func toolChanges(before, now []knownTool) []toolChange {
	changes := []toolChange{}
	byName, byOperation := map[string]*knownTool{}, map[string]*knownTool{}
	for i := range before {
		t := &before[i]
		byName[t.name] = t
		if key := t.operation(); key != "" {
			if _, twice := byOperation[key]; twice {
				byOperation[key] = nil
			} else {
				byOperation[key] = t
			}
		}
	}
	current := map[string]bool{}
	for i := range now {
		current[now[i].name] = true
	}
	for i := range now {
		t := &now[i]
		was := byName[t.name]
		candidates := []*knownTool{}
		for _, former := range t.former {
			candidates = append(candidates, byName[former])
		}
		for _, other := range append(candidates, byOperation[t.operation()]) {
			if was == nil && other != nil && !current[other.name] {
				was = other
			}
		}
		c := toolChange{Change: "added", Name: t.name, API: t.api, Method: t.method, Path: t.path}
		if was != nil {
			delete(byName, was.name)
			c.Change, c.Places = "changed", t.differences(was)
			if was.name != t.name {
				c.Change, c.Was, c.Callable = "renamed", was.name, slices.Contains(t.callable, was.name)
			} else if len(c.Places) == 0 {
				continue
			}
		}
		changes = append(changes, c)
	}
	for i := range before {
		if t := &before[i]; byName[t.name] != nil {
			changes = append(changes, toolChange{Change: "removed", Name: t.name, API: t.api, Method: t.method, Path: t.path})
		}
	}
	slices.SortStableFunc(changes, func(a, b toolChange) int { return strings.Compare(a.Name, b.Name) })
	return changes
}

// operation identifies the operation of a tool; "" if it is unknown.
func (t *knownTool) operation() string {
	if t.path == "" {
		return ""
	}
	return t.api + " " + t.method + " " + t.path
}

// differences returns the places where a definition differs from an earlier one, as far as both have the part.
func (t *knownTool) differences(was *knownTool) []difference {
	var all []difference
	for _, p := range t.parts {
		for _, old := range was.parts {
			if old.at == p.at {
				all = differences(all, p.at, old.value, p.value)
			}
		}
	}
	if was.path != "" && t.path != "" {
		for _, value := range [][3]string{{"method", was.method, t.method}, {"path", was.path, t.path}, {"API", was.api, t.api}} {
			if value[1] != value[2] {
				all = append(all, difference{At: value[0], Was: value[1], Now: value[2]})
			}
		}
	}
	return all
}

// compareLock compares with approvals, as drawbridge lock does.
func (p *program) compareLock(ctx context.Context, c *comparison, location string, before *config.Lock) error {
	cfg, err := p.load(location)
	if err != nil {
		return err
	}
	g, _, err := p.loadConfig(ctx, cfg, gateway.Options{Unlocked: true})
	if err != nil {
		return err
	}
	now := g.Lock()
	c.Before, c.Now = len(before.Tools()), len(now.Tools())
	for _, change := range changesOf(before, now, g) {
		t := toolChange{Change: change.what, Name: change.tool.Name, API: change.tool.API, Method: change.tool.Method, Path: change.tool.Path}
		if approved, ok := before.Approval(change.tool); ok && change.what != "removed" {
			t.Parts = change.tool.Differs(approved)
			if change.what == "renamed" {
				t.Was, t.Callable = approved.Name, staysCallable(g, approved.Name, t.Name)
			}
		}
		c.Tools = append(c.Tools, t)
	}
	if unknown := before.Unknown(); unknown != "" {
		c.NotCompared = append(c.NotCompared, fmt.Sprintf("%s: the file is of version %d", unknown, before.Version))
	}
	return nil
}

// explainRemoved marks the removed tools that tools.lock holds back, and leaves out those of APIs that can't be served.
func (c *comparison) explainRemoved(outcomes []gateway.Outcome) {
	held, unread := map[string]bool{}, map[string]bool{}
	for i := range outcomes {
		unread[outcomes[i].Name] = outcomes[i].Err != nil
		for _, op := range outcomes[i].Report.Operations {
			held[op.Tool] = held[op.Tool] || string(op.Fate) == "held"
		}
	}
	c.Tools = slices.DeleteFunc(c.Tools, func(t toolChange) bool { return t.Change == "removed" && unread[t.API] })
	for i := range c.Tools {
		if t := &c.Tools[i]; t.Change == "removed" && held[t.Name] {
			t.Parts = []string{"tools.lock does not approve it as it is now"}
		}
	}
}

// againstFlag gives check --against.
func (o *checkOptions) againstFlag(c *cobra.Command) {
	c.Flags().StringVar(&o.against, "against", "", "also list the tools, names, schemas and lists that differ from `FILE|VERSION`: the output of 'tools --json' of another version, an approved tools.lock, or the defaults of a release (0: before the first)")
}
