package source

import (
	"fmt"
	"net/url"
	"slices"

	"drawbridge/config"
	"drawbridge/openapi"
	"drawbridge/openapi/origin"
	"drawbridge/openapi/overlay"
	"drawbridge/openapi/text"
)

// locations returns the locations of an API's document and overlays, which may hold secrets in their queries.
func locations(api *config.API) []string {
	all := []string{api.Spec.String()}
	for _, location := range api.Overlays {
		all = append(all, location.String())
	}
	return all
}

// isRemote reports whether the document or one of its overlays is fetched from a URL.
func isRemote(api *config.API) bool {
	return api.Spec.IsURL() || slices.ContainsFunc(api.Overlays, config.Location.IsURL)
}

// watchedFiles returns the files of a document that are watched: those of a document from a file, and overlays from files.
func watchedFiles(api *config.API, files []string) (all []string) {
	if !api.Spec.IsURL() {
		all = append(all, files...)
	}
	for _, location := range api.Overlays {
		if !location.IsURL() && !slices.Contains(all, location.String()) {
			all = append(all, location.String())
		}
	}
	return all
}

// overlayHosts returns the hosts of overlays that don't have the origin of the document.
func overlayHosts(api *config.API) (hosts []string) {
	document, _ := url.Parse(api.Spec.String())
	for _, location := range api.Overlays {
		u, err := url.Parse(location.String())
		if err == nil && location.IsURL() && (!api.Spec.IsURL() || !origin.Same(u, document)) {
			hosts = append(hosts, u.Hostname())
		}
	}
	return hosts
}

// isRestriction reports whether an action of an overlay is a restriction: it removes something, which would remain if
// the action selected nothing.
func isRestriction(a overlay.Action) bool { return a.Kind == overlay.Remove && !a.Optional }

// unmatchedRemovals returns the removals of overlays that select nothing in any document of their entry, which may be a
// directory of documents. A removal is undecided while one of these is missing.
func (set *Set) unmatchedRemovals() (problems config.Problems) {
	known := map[openapi.Position]bool{}
	for _, s := range set.Sources {
		if s.Document == nil {
			continue
		}
		for _, a := range s.Document.Overlays {
			if !isRestriction(a) || slices.ContainsFunc(s.Documents(), func(d *Document) bool { return selects(d, a) }) || set.selectedElsewhere(s, a) {
				continue
			}
			if !known[a.Position] {
				known[a.Position] = true
				problems = append(problems, s.unmatched(a))
			}
		}
	}
	return problems
}

// undoneRemovals returns the removals of overlays that select nothing in a newer document of their source, or in the
// first, and those that an overlay no longer has. They are relevant only if the document has new operations, which a
// removal could target.
func (set *Set) undoneRemovals(s *Source, before, next *Document, added []string) (problems []string) {
	if before != nil && len(added) == 0 {
		return nil
	}
	for _, a := range next.Overlays {
		if !isRestriction(a) || a.Matched > 0 || set.selectedElsewhere(s, a) {
			continue
		}
		p := s.unmatched(a)
		if len(added) > 0 {
			p.Message += "; new operations: " + text.List(added, maxNamed)
		}
		problems = append(problems, p.String())
	}
	if before == nil {
		return problems
	}
	for _, a := range before.Overlays {
		// Changes of the configuration itself are compared elsewhere.
		configured := slices.Contains(s.Config.Overlays, config.Location(a.Position.File))
		if configured && a.Kind == overlay.Remove && a.Matched > 0 && !slices.ContainsFunc(next.Overlays, a.IsSameRemoval) {
			p := s.problem(a, "the overlay removed what %q selects, and does so no more; new operations: %s", text.Truncate(a.Target, maxTarget), text.List(added, maxNamed))
			problems = append(problems, p.String())
		}
	}
	return problems
}

// selectedElsewhere reports whether an action selects something in the document of another source of the same entry, or
// may do so because that document is missing.
func (set *Set) selectedElsewhere(s *Source, a overlay.Action) bool {
	return slices.ContainsFunc(set.Sources, func(other *Source) bool {
		return other != s && set.Entries[other] == set.Entries[s] && (other.Document == nil || selects(other.Document, a))
	})
}

// selects reports whether an action selected something in a document.
func selects(d *Document, a overlay.Action) bool {
	return slices.ContainsFunc(d.Overlays, func(other overlay.Action) bool {
		return other.Target == a.Target && other.Position == a.Position && other.Matched > 0
	})
}

// maxTarget is the maximum size of a target in a problem, in bytes.
const maxTarget = 200

// unmatched returns the problem of a removal that selects nothing.
func (s *Source) unmatched(a overlay.Action) config.Problem {
	return s.problem(a, "the target %q selects nothing, so nothing is removed; correct it, or write x-mcp-optional: true if it need not select anything", text.Truncate(a.Target, maxTarget))
}

// problem returns a problem at the position of an action.
func (s *Source) problem(a overlay.Action, format string, args ...any) config.Problem {
	return config.Problem{Severity: config.Error, File: s.Secrets.Operator(a.Position.File), Line: a.Position.Line, Column: a.Position.Column, Message: fmt.Sprintf(format, args...)}
}
