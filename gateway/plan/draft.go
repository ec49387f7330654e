package plan

import (
	"drawbridge/auth"
	"drawbridge/gateway/catalog"
	"drawbridge/openapi"
)

// draft is a candidate that has become a tool, with the parts of its plan that depend on no other tool.
type draft struct {
	*candidate
	definition *catalog.Tool
	number     int // among all tools, by name
	scopes     [][]string
	condition  *auth.Condition // nil if calls have no condition
	consent    Consent
	safe       bool
	dropped    droppedArguments
	// personal reports whether requests carry values that depend on the caller.
	personal bool
}

// drafts are the drafts of all tools, sorted by the names of the tools.
type drafts struct {
	all         []*draft
	byOperation map[*openapi.Operation]*draft
}

// newDrafts returns the drafts of the candidates that are tools of a catalog.
func newDrafts(o *Options, tools *catalog.Catalog, candidates candidates, rejected *rejections) drafts {
	all := drafts{byOperation: map[*openapi.Operation]*draft{}}
	for n, t := range tools.All() {
		c := candidates[t.Operation]
		if c == nil { // of a kept unit
			continue
		}
		o.Pace.Step()
		one := newDraft(o, t, c, rejected.of(t.API, t.Operation))
		if len(one.scopes) == 0 {
			o.Logger.Warn("no token can have the scopes that the document requires; map them with scope_map",
				"api", t.API, "tool", t.Name, "method", t.Operation.Method, "path", t.Operation.Path)
		}
		one.number = n
		all.all = append(all.all, one)
		all.byOperation[t.Operation] = one
	}
	return all
}

func newDraft(o *Options, t *catalog.Tool, c *candidate, r reporter) *draft {
	api := &c.source.Config
	one := &draft{
		candidate: c, definition: t,
		scopes:    c.source.Document.Scopes(c.operation, api, c.settings, o.DefaultScopes),
		condition: o.Conditions[c.settings.Condition],
		consent:   NewConsent(o.Config, c.settings, t.Annotations.Destructive),
		safe:      t.Annotations.ReadOnly,
		personal:  api.Personal() != "" || c.arguments.UsesClaims(),
		dropped:   newDroppedArguments(o.Config, api, o.APIs.Entries[c.source], c.listedOperation(), r),
	}
	checkParamHeaders(t, c.given, c.settings.ParamHeaders, r)
	return one
}

// asksUser reports whether calls need consent or input from the user.
func (t *draft) asksUser() bool { return asksUser(t.consent, t.elicitation) }
