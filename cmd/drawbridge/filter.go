package main

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"drawbridge/openapi/text"
)

// filterKeys are what a pattern of --filter may be compared with.
var filterKeys = []string{"name", "tag", "api", "method", "path"}

// anywhere are the keys that a pattern without a key is compared with.
var anywhere = []string{"name", "tag", "api"}

// listed is what a filter sees of a tool or operation: the values of each of filterKeys.
type listed map[string][]string

// filter selects tools or operations: those that match all patterns. The zero value selects all.
type filter struct{ patterns []filterPattern }

type filterPattern struct {
	text string // as it was given
	keys []string
	re   *regexp.Regexp
}

// flag gives a command --filter.
func (f *filter) flag(p *program, c *cobra.Command, thing string) {
	c.Flags().Func("filter", "only "+thing+" whose name, tag or API has `PATTERN` in it, or matches it as a whole if it has a *; api=PATTERN compares with the API alone (also: name, tag, method, path); repeated, all must match", func(text string) error {
		pattern, err := parseFilter(text)
		if err != nil {
			return err
		}
		f.patterns = append(f.patterns, pattern)
		return nil
	})
	complete(c, "filter", p.completeFilter)
}

func parseFilter(text string) (filterPattern, error) {
	pattern := filterPattern{text: text, keys: anywhere}
	value := text
	if key, rest, found := strings.Cut(text, "="); found {
		if !slices.Contains(filterKeys, key) {
			return pattern, fmt.Errorf("must be a pattern, or one of %s before =", strings.Join(filterKeys, ", "))
		}
		pattern.keys, value = []string{key}, rest
	}
	if value == "" {
		return pattern, errors.New("must not be an empty pattern")
	}
	quoted := regexp.QuoteMeta(value)
	if strings.Contains(value, "*") {
		quoted = `\A` + strings.ReplaceAll(quoted, `\*`, `.*`) + `\z`
	}
	var err error
	pattern.re, err = regexp.Compile(`(?is)` + quoted)
	return pattern, err
}

func (f *filterPattern) match(one listed) bool {
	return slices.ContainsFunc(f.keys, func(key string) bool { return slices.ContainsFunc(one[key], f.re.MatchString) })
}

// match reports whether one matches all patterns.
func (f *filter) match(one listed) bool {
	for i := range f.patterns {
		if !f.patterns[i].match(one) {
			return false
		}
	}
	return true
}

// problem returns why nothing is selected of all, or nil: a filter that matches nothing is a mistake, most of the time of
// spelling.
func (f *filter) problem(command string, all []listed) error {
	if len(f.patterns) == 0 || slices.ContainsFunc(all, f.match) {
		return nil
	}
	for i := range f.patterns {
		p := &f.patterns[i]
		if slices.ContainsFunc(all, p.match) {
			continue
		}
		near := p.nearest(all)
		if key, _, found := strings.Cut(p.text, "="); found && near != "" {
			near = key + "=" + near
		}
		return fmt.Errorf("%s: --filter %q matches nothing%s", command, p.text, text.DidYouMean(near))
	}
	return fmt.Errorf("%s: nothing matches all of --filter together, though each matches something", command)
}

// nearest returns the value that the pattern may have been meant for, or "".
func (f *filterPattern) nearest(all []listed) string {
	var values []string
	for _, one := range all {
		for _, key := range f.keys {
			values = append(values, one[key]...)
		}
	}
	slices.Sort(values)
	given := f.text
	if _, rest, found := strings.Cut(given, "="); found {
		given = rest
	}
	return text.Nearest(given, slices.Compact(values))
}
