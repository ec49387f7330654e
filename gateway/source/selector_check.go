package source

import (
	"fmt"
	"slices"

	"drawbridge/config"
	"drawbridge/openapi"
	"drawbridge/openapi/text"
)

// selectorMatches caches which selectors of a configuration match which documents, so that each pair is compared once.
type selectorMatches struct {
	selections []config.Selection
	known      map[selectorMatch]bool // whether the selector matches the document
}

// selectorMatch is one selector and one document, under the names of its API.
type selectorMatch struct {
	selection int
	names     apiNames
	api       *openapi.API
}

// maxNamed is the maximum number of operations or APIs that a problem names.
const maxNamed = 5

// SelectorResult is the result of checking all selectors of a configuration.
type SelectorResult struct {
	// Unmatched lists selectors that match nothing although all documents that they can match are loaded, and removals
	// of overlays that select nothing. The configuration can't be used if there are errors among them.
	Unmatched config.Problems
	// Undecided lists selectors that match nothing yet, while a document that they can match could not be read.
	Undecided config.Problems
	// Early reports whether an undecided selector restricts access to a loaded document while the first attempt to read
	// another document that it can match is under way.
	Early bool
}

// Texts returns all problems as text for operators, the most severe first.
func (r *SelectorResult) Texts() []string {
	var all []string
	for _, p := range slices.Concat(r.Unmatched.Errors(), r.Undecided, r.Unmatched.Warnings()) {
		all = append(all, p.String())
	}
	return all
}

// CheckSelectors names the sources and compares the selectors of the configuration, and the overlays, with the
// documents of its APIs. A selector may also match an operation of a document in quarantine, so that the configuration
// can be prepared before the document is accepted.
func (set *Set) CheckSelectors() (result SelectorResult) {
	set.NameSources()
	known := make(map[selectorMatch]bool, len(set.selectors.known)) // drops documents that are gone
	for i := range set.selectors.selections {
		sel := &set.selectors.selections[i]
		var missing []string
		matched, present, trying := false, false, false
		for _, s := range set.Sources {
			if matched || !set.reaches(sel, s) {
				continue
			}
			for _, d := range s.Documents() {
				check := selectorMatch{i, s.as(s.Name), d.API}
				hit, ok := set.selectors.known[check]
				if !ok {
					hit = matchesAny(sel, s.as(s.Name), d.API)
				}
				known[check] = hit
				matched = matched || hit
			}
			if present = present || s.Document != nil; s.Document == nil || !s.Tried {
				missing, trying = append(missing, s.Name), trying || !s.Tried
			}
		}
		switch {
		case matched, sel.Argument != "" && !set.selects(sel):
		case len(missing) == 0 && set.mayAppear(sel):
			p := set.config.At(sel.Key)
			p.Message = "matches no operation of the services that are known; one that is discovered may have it"
			result.Undecided = append(result.Undecided, p)
		case len(missing) == 0:
			result.Unmatched = append(result.Unmatched, set.explain(sel))
		case sel.Severity() == config.Error:
			p := set.config.At(sel.Key)
			p.Message = fmt.Sprintf("matches no operation so far; it is decided when the document of %s can be read, whose operations are not served if nothing matches then", text.List(missing, maxNamed))
			result.Undecided = append(result.Undecided, p)
			result.Early = result.Early || present && trying
		}
	}
	set.selectors.known = known
	result.Unmatched = append(result.Unmatched, set.unmatchedRemovals()...)
	return result
}

// mayAppear reports whether a service that has not been discovered yet may have operations that a selector matches.
func (set *Set) mayAppear(sel *config.Selection) bool {
	return len(set.config.Discovery) > 0 && sel.Entry == ""
}

// selects reports whether the selector alone, without the argument, matches an operation of a document. If it does not,
// the selector is reported instead.
func (set *Set) selects(sel *config.Selection) bool {
	alone := *sel
	alone.Argument = ""
	return slices.ContainsFunc(set.Sources, func(s *Source) bool {
		return set.reaches(sel, s) && (s.Document == nil || slices.ContainsFunc(s.Documents(), func(d *Document) bool { return matchesAny(&alone, s.as(s.Name), d.API) }))
	})
}

// reaches reports whether a selector can match operations of a source. A source without a configured name has no known
// name before its document is loaded.
func (set *Set) reaches(sel *config.Selection, s *Source) bool {
	if s.Document == nil && s.Config.Name == "" && sel.Entry == "" {
		return true
	}
	return sel.Reaches(s.Name, s.Config.Claimed(), set.Entries[s])
}

// explain returns the reason why a selector matches nothing.
func (set *Set) explain(sel *config.Selection) config.Problem {
	var subjects []config.Subject
	for _, s := range set.Sources {
		if set.reaches(sel, s) && s.Document != nil {
			subjects = slices.AppendSeq(subjects, subjectsOf(s.as(s.Name), s.Document.API))
		}
	}
	return set.config.Explain(sel, subjects)
}
