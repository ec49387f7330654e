package gateway

import (
	"fmt"
	"slices"
	"strings"

	"drawbridge/config"
	"drawbridge/gateway/catalog"
)

// Some problems of a configuration only show once the documents are known.

// logSelectors warns once of each selector that matches nothing.
func (g *Gateway) logSelectors(gen, old *generation) {
	for _, problem := range gen.selectors.Texts() {
		if old == nil || !slices.Contains(old.selectors.Texts(), problem) {
			g.log.Warn("a selector of the configuration matches nothing", "problem", problem)
		}
	}
}

// SelectorProblems returns the selectors of the configuration that match no operation. Those that would keep serve from
// starting are errors, all others are warnings, including those that may match a document that could not be read.
func (g *Gateway) SelectorProblems() config.Problems {
	if gen := g.current.Load(); gen != nil {
		return slices.Concat(gen.selectors.Unmatched, gen.selectors.Undecided)
	}
	return nil
}

// clashesOf describes the tool names that depend on whether the documents of other APIs can be read.
func clashesOf(c *catalog.Catalog) []string {
	clashes := c.Clashes()
	if len(clashes) == 0 {
		return nil
	}
	const most = 5
	var list []string
	for _, clash := range clashes[:min(len(clashes), most)] {
		list = append(list, fmt.Sprintf("%q (%s)", clash.Name, strings.Join(clash.APIs, ", ")))
	}
	more := ""
	if len(clashes) > most {
		more = fmt.Sprintf(" and %d more", len(clashes)-most)
	}
	return []string{fmt.Sprintf("tools of several APIs would be named %s%s, so that a hash ends their names, but not those of one while the others "+
		"can't be read: name them by rules, or let tools.prefix tell them apart", strings.Join(list, ", "), more)}
}

// logClashes warns once of each unstable name.
func (g *Gateway) logClashes(gen, old *generation) {
	for _, clash := range gen.clashes {
		if old == nil || !slices.Contains(old.clashes, clash) {
			g.log.Warn("names clash", "problem", clash)
		}
	}
}

// NameClashes describes the names of APIs and tools that depend on whether other documents can be read.
func (g *Gateway) NameClashes() []string { return slices.Clone(g.Status().Config.Clashes) }

// PassedOver returns the files of the configured directories that are not documents and therefore no APIs.
func (g *Gateway) PassedOver() []string { return g.Status().Config.PassedOver }

// logPrompts logs each prompt that can't be served once.
func (g *Gateway) logPrompts(gen, old *generation) {
	for _, fault := range gen.promptFaults {
		if old == nil || !slices.Contains(old.promptFaults, fault) {
			g.log.Warn("a prompt can't be served", "error", fault)
		}
	}
}

// PromptProblems returns the reasons why prompts of the configuration can't be served, with positions in its files.
func (g *Gateway) PromptProblems() []string { return slices.Clone(g.Status().Config.Prompts) }
