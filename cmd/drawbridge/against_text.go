package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// mostOfOneTool is the number of places of one tool that are printed without --verbose, mostAlike that of tools with the same change.
const (
	mostOfOneTool = 4
	mostAlike     = 5
)

// comparison writes what differs from an earlier version. Tools that change in the same way are one entry.
func (t *reportText) comparison(c *comparison) {
	of := c.Against
	if c.Kind == ofVersion {
		of = "version " + c.Against
	}
	if !c.differs() {
		t.printf("against %s: nothing differs: %s\n", of, count(c.Now, "tool"))
		t.notCompared(c)
		return
	}
	counts := map[string]int{}
	for i := range c.Tools {
		counts[c.Tools[i].Change]++
	}
	t.printf("against %s: %s before, %d now: %d added, %d removed, %d renamed, %d changed\n", of, count(c.Before, "tool"), c.Now,
		counts["added"], counts["removed"], counts["renamed"], counts["changed"])
	for _, d := range c.Defaults {
		t.printf("  default: %s: %s before, %s now; to keep the former: %s\n", d.What, d.Was, d.Now, d.Restore)
	}
	for _, l := range c.Lists {
		switch {
		case l.Was == "":
			t.printf("  %s is new, and lists %s\n", l.Endpoint, listedAs(l.Now))
		case l.Now == "":
			t.printf("  %s is gone; it listed %s\n", l.Endpoint, listedAs(l.Was))
		default:
			t.printf("  %s lists %s instead of %s: %s\n", l.Endpoint, listedAs(l.Now), listedAs(l.Was), l.Reason)
		}
	}
	t.toolChanges(c.Tools)
	t.notCompared(c)
}

func (t *reportText) notCompared(c *comparison) {
	for _, what := range c.NotCompared {
		t.printf("  not compared: %s\n", what)
	}
}

func listedAs(presentation string) string {
	if presentation == "search" {
		return "search_tools"
	}
	return presentation + " tools"
}

// alike are tools that change in the same way.
type alike struct {
	change, how string
	tools       []string
}

// toolChanges writes the changes, those of one kind together.
func (t *reportText) toolChanges(changes []toolChange) {
	var groups []*alike
	byText := map[string]*alike{}
	for i := range changes {
		c := &changes[i]
		how, name := t.howChanged(c), oneLine(c.Name)
		switch {
		case c.Change == "renamed":
			name = oneLine(c.Was) + " → " + name
		case c.Change == "added" && c.Path != "":
			name += fmt.Sprintf(" (%s %s)", c.Method, oneLine(c.Path))
		}
		key := c.Change + " " + how
		if byText[key] == nil {
			byText[key] = &alike{change: c.Change, how: how}
			groups = append(groups, byText[key])
		}
		byText[key].tools = append(byText[key].tools, name)
	}
	order := []string{"removed", "renamed", "added", "changed"}
	slices.SortStableFunc(groups, func(a, b *alike) int {
		return cmp.Or(cmp.Compare(slices.Index(order, a.change), slices.Index(order, b.change)), cmp.Compare(len(b.tools), len(a.tools)))
	})
	for _, g := range groups {
		shown := g.tools
		if !t.verbose && len(shown) > mostAlike {
			shown = shown[:mostAlike]
		}
		text := strings.Join(shown, ", ")
		if more := len(g.tools) - len(shown); more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
		if g.how != "" {
			text += ": " + g.how
		}
		t.printf("  %s: %s\n", g.change, text)
	}
}

// howChanged describes the change of one tool.
func (t *reportText) howChanged(c *toolChange) string {
	var parts []string
	if c.Callable {
		parts = append(parts, "the old name stays callable")
	}
	for _, part := range c.Parts {
		parts = append(parts, oneLine(part))
	}
	most := mostOfOneTool
	if t.verbose {
		most = mostDifferences
	}
	for i, d := range c.Places {
		if i == most {
			more := fmt.Sprint(len(c.Places) - most)
			if len(c.Places) >= mostDifferences {
				more = "at least " + more
			}
			parts = append(parts, "and "+more+" more")
			break
		}
		parts = append(parts, oneLine(d.String()))
	}
	return strings.Join(parts, "; ")
}
