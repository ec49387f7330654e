package gateway

import (
	"fmt"
	"iter"
	"regexp"
	"slices"

	"drawbridge/config"
	"drawbridge/openapi"
)

// selectorChecks caches which selectors of a configuration match which documents, so that each pair is compared once.
// It belongs to the goroutine of [Gateway.Run].
type selectorChecks struct {
	selections []config.Selection
	entries    map[*source]string     // configuration entry of each source, such as apis[0]
	known      map[selectorCheck]bool // whether the selector matches the document
}

// selectorCheck is the cache key for one selector and one document, under the name of its API.
type selectorCheck struct {
	selection int
	name      string
	api       *openapi.API
}

func newSelectorChecks(c *config.Config) *selectorChecks {
	return &selectorChecks{selections: c.Selections(), entries: map[*source]string{}, known: map[selectorCheck]bool{}}
}

// restrict reports whether any selector restricts access.
func (c *selectorChecks) restrict() bool {
	return slices.ContainsFunc(c.selections, func(sel config.Selection) bool { return len(sel.Restricts) > 0 })
}

// selectorResult is the result of checking all selectors.
type selectorResult struct {
	// unmatched lists selectors that match nothing although all documents that they can match are loaded.
	unmatched config.Problems
	// undecided lists selectors that match nothing yet, while a document that they can match could not be read.
	undecided config.Problems
	// early reports whether an undecided selector restricts access to a loaded document while the first attempt to read
	// another document that it can match is under way.
	early bool
}

// refusal returns the error that rejects the configuration; nil if it can be used.
func (r *selectorResult) refusal() error { return r.unmatched.Err() }

// texts returns all problems as text for operators, the most severe first.
func (r *selectorResult) texts() []string {
	var all []string
	for _, p := range slices.Concat(r.unmatched.Errors(), r.undecided, r.unmatched.Warnings()) {
		all = append(all, p.String())
	}
	return all
}

// checkSelectors compares the selectors of the configuration with the documents of its APIs. A selector may also match
// an operation of a document in quarantine, so that the configuration can be prepared before the document is accepted.
func (d *deployment) checkSelectors() (result selectorResult) {
	d.nameSources()
	known := make(map[selectorCheck]bool, len(d.selectors.known)) // drops documents that are gone
	for i := range d.selectors.selections {
		sel := &d.selectors.selections[i]
		var missing []string
		matched, present, trying := false, false, false
		for _, s := range d.sources {
			if matched || !d.reaches(sel, s) {
				continue
			}
			for _, l := range s.documentsKnown() {
				check := selectorCheck{i, s.name, l.api}
				hit, ok := d.selectors.known[check]
				if !ok {
					hit = matchesAny(sel, s.name, l.api)
				}
				known[check] = hit
				matched = matched || hit
			}
			if present = present || s.loaded != nil; s.loaded == nil || !s.tried {
				missing, trying = append(missing, s.name), trying || !s.tried
			}
		}
		switch {
		case matched:
		case len(missing) == 0:
			result.unmatched = append(result.unmatched, d.explain(sel))
		case sel.Severity() == config.Error:
			p := d.config.At(sel.Key)
			p.Message = fmt.Sprintf("matches no operation so far; it is decided when the document of %s can be read, whose operations are not served if nothing matches then", someOf(missing))
			result.undecided = append(result.undecided, p)
			result.early = result.early || present && trying
		}
	}
	d.selectors.known = known
	return result
}

// reaches reports whether a selector can match operations of a source. A source without a configured name has no known
// name before its document is loaded.
func (d *deployment) reaches(sel *config.Selection, s *source) bool {
	if s.loaded == nil && s.config.Name == "" && sel.Entry == "" {
		return true
	}
	return sel.Reaches(s.name, d.selectors.entries[s])
}

// explain returns the reason why a selector matches nothing.
func (d *deployment) explain(sel *config.Selection) config.Problem {
	var subjects []config.Subject
	for _, s := range d.sources {
		if d.reaches(sel, s) && s.loaded != nil {
			subjects = slices.AppendSeq(subjects, subjectsOf(s.name, s.loaded.api))
		}
	}
	return d.config.Explain(sel, subjects)
}

// documentsKnown returns the document in use and the one in quarantine.
func (s *source) documentsKnown() (all []*loaded) {
	if s.loaded != nil {
		all = append(all, s.loaded)
	}
	if s.held != nil && s.held.update != nil {
		all = append(all, s.held.update.loaded)
	}
	return all
}

// subjectsOf yields the operations of a document as selectors see them. It includes operations that can't be tools,
// because a selector may name them, too.
func subjectsOf(name string, api *openapi.API) iter.Seq[config.Subject] {
	return func(yield func(config.Subject) bool) {
		for _, op := range api.Operations {
			if !yield(subjectOf(name, op)) {
				return
			}
		}
		for _, s := range api.Skipped {
			if !yield(skippedSubject(name, s)) {
				return
			}
		}
	}
}

func matchesAny(sel *config.Selection, name string, api *openapi.API) bool {
	for subject := range subjectsOf(name, api) {
		if sel.Match(subject) {
			return true
		}
	}
	return false
}

// unrestricted returns the restrictions that a newer document of a source would undo, as problems with positions. A
// restricting selector must still match each operation that it matched. If it names a path, an operation or a tag and
// matched the previous document, it must match a newer one with new operations, since one of them may be its target. It
// must match the first document of a source, unless another document matches or one that may match is missing.
func (d *deployment) unrestricted(s *source, before, next *loaded) (problems []string) {
	names := d.namesWith(s, next.title)
	namesBefore := names
	if before != nil {
		namesBefore = d.namesWith(s, before.title)
	}
	added := addedOperations(before, next)
	for i := range d.selectors.selections {
		sel := &d.selectors.selections[i]
		if len(sel.Restricts) == 0 {
			continue
		}
		var p config.Problem
		if escaped := d.escaped(sel, change{s, before, next, namesBefore, names}); len(escaped) > 0 {
			p = d.config.At(sel.Key)
			p.Message = fmt.Sprintf("matches %s no more, since the operationId, the tags or the name of the API are others", someOf(escaped))
		} else {
			// The first document of an API without a configured name must not choose a name that no selector matches.
			reached := sel.Reaches(names[s], d.selectors.entries[s]) || before == nil && d.reaches(sel, s)
			if sel.Severity() != config.Error || !reached || matchesAny(sel, names[s], next.api) {
				continue
			}
			// A document must not remove the operations that a selector matches and reintroduce them later under
			// another name.
			matchedBefore := before != nil && matchesAny(sel, namesBefore[s], before.api)
			if before != nil && len(added) == 0 || !matchedBefore && d.matchedElsewhere(sel, s) {
				continue
			}
			p = d.config.Explain(sel, slices.Collect(subjectsOf(names[s], next.api)))
			if len(added) > 0 {
				p.Message += "; new operations: " + someOf(added)
			}
		}
		p.Severity = config.Error
		problems = append(problems, p.String())
	}
	return problems
}

// change is a newer document of a source, with the names of all sources before and after it.
type change struct {
	source             *source
	before, next       *loaded // before is nil if there is none
	namesBefore, names map[*source]string
}

// escaped returns the operations that a selector would no longer match, as method and path, sorted. They are in the
// newer document or in other APIs, whose names depend on its title if they are not configured.
func (d *deployment) escaped(sel *config.Selection, c change) (operations []string) {
	for _, s := range d.sources {
		before, later := s.loaded, s.loaded
		if s == c.source {
			before, later = c.before, c.next
		}
		if before == nil || later == before && c.names[s] == c.namesBefore[s] || !sel.Reaches(c.namesBefore[s], d.selectors.entries[s]) {
			continue
		}
		matched := map[string]bool{}
		for subject := range subjectsOf(c.namesBefore[s], before.api) {
			if sel.Match(subject) {
				matched[operationKey(subject)] = true
			}
		}
		for subject := range subjectsOf(c.names[s], later.api) {
			if matched[operationKey(subject)] && !sel.Match(subject) {
				operations = append(operations, subject.Method+" "+subject.Path)
			}
		}
	}
	slices.Sort(operations)
	return operations
}

// operationKey identifies an operation in its document. Names of path variables don't count: /orders/{id} and
// /orders/{order} are the same URL.
func operationKey(s config.Subject) string { return withoutNames(s.Method + " " + s.Path) }

// withoutNames removes the names of path variables from an operation, given as method and path.
func withoutNames(operation string) string {
	return pathVariable.ReplaceAllLiteralString(operation, "{}")
}

var pathVariable = regexp.MustCompile(`\{[^{}]*\}`)

// addedOperations returns the operations that are new in next, as method and path, sorted.
func addedOperations(before, next *loaded) (added []string) {
	if before == nil {
		return nil
	}
	known := map[string]bool{}
	for subject := range subjectsOf("", before.api) {
		known[operationKey(subject)] = true
	}
	for subject := range subjectsOf("", next.api) {
		if !known[operationKey(subject)] {
			added = append(added, subject.Method+" "+subject.Path)
		}
	}
	slices.Sort(added)
	return added
}

// matchedElsewhere reports whether a selector matches an operation of another source, or may do so because the document
// of a source that it reaches is missing.
func (d *deployment) matchedElsewhere(sel *config.Selection, s *source) bool {
	return slices.ContainsFunc(d.sources, func(other *source) bool {
		return other != s && d.reaches(sel, other) && (other.loaded == nil || matchesAny(sel, other.name, other.loaded.api))
	})
}

// logSelectors warns once of each selector that matches nothing.
func (g *Gateway) logSelectors(gen, old *generation) {
	for _, problem := range gen.selectors.texts() {
		if old == nil || !slices.Contains(old.selectors.texts(), problem) {
			g.log.Warn("a selector of the configuration matches nothing", "problem", problem)
		}
	}
}

// SelectorProblems returns the selectors of the configuration that match no operation. Those that would keep serve from
// starting are errors, all others are warnings, including those that may match a document that could not be read.
func (g *Gateway) SelectorProblems() config.Problems {
	if gen := g.current.Load(); gen != nil {
		return slices.Concat(gen.selectors.unmatched, gen.selectors.undecided)
	}
	return nil
}
