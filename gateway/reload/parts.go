package reload

import (
	"cmp"
	"fmt"
	"slices"

	"drawbridge/config"
)

// separate finds the parts of a configuration that open access, by comparing the newest configuration with each changed part alone. It returns
// what they open, each line after the files of its part, and the configuration with these parts as they are in the newest one. rest is nil if
// nothing else has changed, or if the other parts can't be used without them. all is the access that the whole configuration opens.
func (w *writer) separate(c *config.Config, all []string) (opens []string, rest *config.Config) {
	newest := w.newestDeployment().Config
	if len(c.Include)+len(newest.Include) == 0 {
		return all, nil
	}
	var held []string
	explained := map[string]bool{}
	changed := c.ChangedParts(newest)
	for _, part := range changed {
		var lines []string
		alone, err := w.loadKeeping(c, slices.DeleteFunc(slices.Clone(changed), func(other string) bool { return other == part }))
		if err != nil {
			lines = []string{fmt.Sprintf("it can't be used without other changes: %s", err)}
		} else {
			lines = w.opens(alone)
		}
		if len(lines) > 0 {
			held = append(held, part)
		}
		for _, line := range lines {
			explained[line] = true
			opens = append(opens, cmp.Or(c.PartFiles(part), newest.PartFiles(part))+": "+line)
		}
	}
	opens = append(opens, slices.DeleteFunc(slices.Clone(all), func(line string) bool { return explained[line] })...)
	if len(held) == 0 || len(held) == len(changed) {
		return opens, nil
	}
	rest, err := w.loadKeeping(c, held)
	if err != nil || rest.Auth == nil && newest.Auth != nil || len(w.opens(rest)) > 0 {
		return opens, nil
	}
	return opens, rest
}

// loadKeeping reads a configuration with parts as they are in the newest one.
func (w *writer) loadKeeping(c *config.Config, parts []string) (*config.Config, error) {
	return w.o.LoadConfig(&config.Kept{InUse: w.newestDeployment().Config, Parts: parts, Files: c.Files()})
}
