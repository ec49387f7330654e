package report

import (
	"fmt"
	"slices"
	"strings"

	"drawbridge/config"
	"drawbridge/gateway/admin"
	"drawbridge/gateway/source"
	"drawbridge/openapi"
	"drawbridge/openapi/origin"
)

// usability states whether an API whose document could be read can be used.
type usability struct {
	uncallable bool     // no call can be made
	faults     []string // reasons why the API can't be used
	notes      []string // remarks about a part of its tools
}

// CallFaults returns the reasons why calls of the API, or of a part of its tools, can't be made.
func (a *API) CallFaults() (all, part []string) {
	if a.usability.uncallable {
		all = a.usability.faults
	}
	return all, slices.DeleteFunc(slices.Clone(a.usability.notes), func(note string) bool { return !strings.Contains(note, uncallableTools) })
}

// uncallableTools is part of each note about tools that can't be called.
const uncallableTools = " can't be called: "

// maxUncallable is the maximum number of reasons that are listed.
const maxUncallable = 5

func (a *API) usabilityOf(s *source.Source, c *config.Config, entry string) usability {
	u := usability{}
	reasons, tools, uncallable := admin.Counts{}, 0, 0
	for _, op := range a.api.Operations {
		if a.tools[op] == nil {
			continue
		}
		tools++
		all := s.Uncallable(op)
		if len(all) > 0 {
			uncallable++
		}
		for _, why := range all {
			reasons[why]++
		}
	}
	refused := a.Skips[openapi.SkipServer]
	switch {
	case a.Counts.Total == 0:
		u.faults = append(u.faults, "the document has no operation")
	case tools == 0 && a.Counts.HeldBack == 0 && refused > 0:
		u.uncallable = true
		u.faults = append(u.faults, a.shown("no operation is served: "+a.firstSkip(openapi.SkipServer)))
	case tools == 0 && a.Counts.HeldBack == 0 && a.Counts.Excluded > 0:
		key := entry + ".tools.exclude"
		if len(a.config.Tools.Include) > 0 {
			key = entry + ".tools.include"
		}
		u.faults = append(u.faults, fmt.Sprintf("%s: no operation becomes a tool", c.Origin(key)))
	case tools > 0 && uncallable == tools:
		u.uncallable = true
		u.faults = append(u.faults, a.shown("no call can be made: "+strings.Join(first(reasons.Codes(), maxUncallable), "; and ")))
	}
	if !u.uncallable {
		for i, why := range reasons.Codes() {
			if i == maxUncallable {
				u.notes = append(u.notes, fmt.Sprintf("%d further reasons why tools%sthe operations of the report have them", len(reasons)-i, uncallableTools))
				break
			}
			u.notes = append(u.notes, a.shown(fmt.Sprintf("%d of %d tools%s%s", reasons[why], tools, uncallableTools, why)))
		}
	}
	u.notes = append(u.notes, a.elsewhere(s)...)
	return u
}

func first(texts []string, n int) []string { return texts[:min(n, len(texts))] }

// firstSkip returns the reason of the first operation that is skipped with a code.
func (a *API) firstSkip(code string) string {
	for _, skipped := range a.api.Skipped {
		if skipped.Code == code && a.ofSkipped(skipped) == admin.Skipped {
			return skipped.Reason
		}
	}
	return ""
}

// elsewhere lists the base URLs of tools that have servers of their own.
func (a *API) elsewhere(s *source.Source) (notes []string) {
	type place struct {
		tools   int
		example string
		op      *openapi.Operation
	}
	places := map[string]*place{}
	var order []string
	for _, op := range a.api.Operations {
		if a.tools[op] == nil || op.Base == nil || a.isHome(op) {
			continue
		}
		text := op.Base.String()
		if places[text] == nil {
			places[text] = &place{example: op.Method + " " + op.Path, op: op}
			order = append(order, text)
		}
		places[text].tools++
	}
	for i, text := range order {
		if i == maxUncallable {
			notes = append(notes, fmt.Sprintf("tools go to %d further servers", len(order)-i))
			break
		}
		p := places[text]
		verb := "tools go"
		if p.tools == 1 {
			verb = "tool goes"
		}
		notes = append(notes, a.shown(fmt.Sprintf("%d %s to %s, a server of its own in the document%s (%s)", p.tools, verb, text, credentialNote(s, p.op), p.example)))
	}
	return notes
}

// isHome reports whether the calls of an operation go where those of operations without servers of their own go.
func (a *API) isHome(op *openapi.Operation) bool {
	home := a.api.Base
	return op.Base == home || home != nil && op.Base.String() == home.String()
}

// credentialNote names the credential that calls to another origin carry; "" for those on the origin of the API.
func credentialNote(s *source.Source, op *openapi.Operation) string {
	if !s.GoesElsewhere(op.Base) {
		return ""
	}
	to, _ := origin.Of(op.Base)
	if key, _ := s.ServerCredential(op.Base); key != "" {
		return fmt.Sprintf(" (allow_servers), with the credential of server_credentials for %s", to)
	}
	return fmt.Sprintf(" (allow_servers), without a credential; server_credentials can have one for %s", to)
}
