package source

import (
	"fmt"
	"slices"

	"drawbridge/config"
	"drawbridge/openapi/text"
)

// Unrestricted returns the restrictions that a newer document of a source would undo, as problems with positions. A
// restricting selector must still match each operation that it matched. If it names a path, an operation or a tag and
// matched the previous document, it must match a newer one with new operations, since one of them may be its target. It
// must match the first document of a source, unless another document matches or one that may match is missing. The same
// holds for the removals of its overlays.
func (set *Set) Unrestricted(s *Source, before, next *Document) (problems []string) {
	names := set.namesWith(s, next.Title)
	namesBefore := names
	if before != nil {
		namesBefore = set.namesWith(s, before.Title)
	}
	added := addedOperations(before, next)
	for i := range set.selectors.selections {
		sel := &set.selectors.selections[i]
		if len(sel.Restricts) == 0 {
			continue
		}
		var p config.Problem
		if escaped := set.escaped(sel, change{s, before, next, namesBefore, names}); len(escaped) > 0 {
			p = set.config.At(sel.Key)
			p.Message = fmt.Sprintf("matches %s no more, since the operationId, the tags, the extensions or the name of the API are others", text.List(escaped, maxNamed))
			if sel.Argument != "" {
				p = set.config.At(sel.ArgumentKey)
				p.Message = fmt.Sprintf("fits %s no more, since the argument %q is gone", text.List(escaped, maxNamed), sel.Argument)
			}
		} else {
			// The first document of an API without a configured name must not choose a name that no selector matches.
			reached := sel.Reaches(names[s], s.Config.Claimed(), set.Entries[s]) || before == nil && set.reaches(sel, s)
			if sel.Severity() != config.Error || !reached || matchesAny(sel, s.as(names[s]), next.API) {
				continue
			}
			// A document must not remove the operations that a selector matches and reintroduce them later under
			// another name.
			matchedBefore := before != nil && matchesAny(sel, s.as(namesBefore[s]), before.API)
			if before != nil && len(added) == 0 || !matchedBefore && set.matchedElsewhere(sel, s) {
				continue
			}
			p = set.config.Explain(sel, slices.Collect(subjectsOf(s.as(names[s]), next.API)))
			if len(added) > 0 {
				p.Message += "; new operations: " + text.List(added, maxNamed)
			}
		}
		p.Severity = config.Error
		problems = append(problems, p.String())
	}
	return append(problems, set.undoneRemovals(s, before, next, added)...)
}

// change is a newer document of a source, with the names of all sources before and after it.
type change struct {
	source             *Source
	before, next       *Document // before is nil if there is none
	namesBefore, names map[*Source]string
}

// escaped returns the operations that a selector would no longer match, as method and path, sorted. They are in the
// newer document or in other APIs, whose names depend on its title if they are not configured.
func (set *Set) escaped(sel *config.Selection, c change) (operations []string) {
	for _, s := range set.Sources {
		before, later := s.Document, s.Document
		if s == c.source {
			before, later = c.before, c.next
		}
		if before == nil || later == before && c.names[s] == c.namesBefore[s] || !sel.Reaches(c.namesBefore[s], s.Config.Claimed(), set.Entries[s]) {
			continue
		}
		matched := map[string]bool{}
		for subject := range subjectsOf(s.as(c.namesBefore[s]), before.API) {
			if sel.Match(subject) {
				matched[operationKey(subject)] = true
			}
		}
		for subject := range subjectsOf(s.as(c.names[s]), later.API) {
			if matched[operationKey(subject)] && !sel.Match(subject) {
				operations = append(operations, subject.Method+" "+subject.Path)
			}
		}
	}
	slices.Sort(operations)
	return operations
}

// addedOperations returns the operations that are new in next, as method and path, sorted.
func addedOperations(before, next *Document) (added []string) {
	if before == nil {
		return nil
	}
	known := map[string]bool{}
	for subject := range subjectsOf(apiNames{}, before.API) {
		known[operationKey(subject)] = true
	}
	for subject := range subjectsOf(apiNames{}, next.API) {
		if !known[operationKey(subject)] {
			added = append(added, subject.Method+" "+subject.Path)
		}
	}
	slices.Sort(added)
	return added
}

// matchedElsewhere reports whether a selector matches an operation of another source, or may do so because the document
// of a source that it reaches is missing.
func (set *Set) matchedElsewhere(sel *config.Selection, s *Source) bool {
	return slices.ContainsFunc(set.Sources, func(other *Source) bool {
		return other != s && set.reaches(sel, other) && (other.Document == nil || matchesAny(sel, other.as(other.Name), other.Document.API))
	})
}
