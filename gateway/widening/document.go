package widening

import (
	"fmt"
	"slices"

	"drawbridge/gateway/plan"
	"drawbridge/gateway/source"
	"drawbridge/openapi"
	"drawbridge/openapi/httpmethod"
	"drawbridge/openapi/origin"
	"drawbridge/openapi/text"
)

// WiderDocument lists the access to known operations that a newer document of a source would give beyond an earlier one, under the
// same configuration. Operations that are new are not compared: they have the defaults, and obey the rules that match them. With
// tools.lock nothing is compared, because a tool that has changed is not served until it is approved.
func (d Served) WiderDocument(s *source.Source, before, next *source.Document) []string {
	if d.Config.Tools.Lock != "" {
		return nil
	}
	c := documentComparison{
		was: permissions{c: d.Config, api: &s.Config, document: before, name: d.APIs.NameWith(s, before.Title)},
		is:  permissions{c: d.Config, api: &s.Config, document: next, name: d.APIs.NameWith(s, next.Title)},
		// The document of a source that another one replaces was compiled with other settings.
		sameSettings: s.Document == before,
	}
	var found findings
	known := map[*openapi.Operation]likeness{}
	for _, p := range pairOperations(before.API.Operations, next.API.Operations) {
		known[p.is] = max(known[p.is], p.by)
		for _, what := range c.opened(p) {
			found.add(what, p.is.Method+" "+p.is.Path)
		}
	}
	for _, what := range c.openedAgain(s.Former(), next.API.Operations, known) {
		found.add(what.what, what.operation)
	}
	var lines []string
	for _, what := range found.order {
		lines = append(lines, fmt.Sprintf("apis: %s: %s of %s", s.Name, what, text.List(found.of[what], 5)))
	}
	return lines
}

// documentComparison compares two documents under one configuration.
type documentComparison struct {
	was, is      permissions
	sameSettings bool
	judged       map[string][]string // the arguments that each condition of the configuration names; nil until one is needed
}

// judgedArguments returns the arguments of an operation that a condition names.
func (c *documentComparison) judgedArguments(condition string, op *openapi.Operation) []string {
	if condition == "" {
		return nil
	}
	if c.judged == nil {
		c.judged = map[string][]string{}
		compiled, _ := plan.CompileConditions(c.is.c) // those of a configuration in use have no faults
		for text, one := range compiled {
			c.judged[text] = one.Arguments()
		}
	}
	if len(c.judged[condition]) == 0 {
		return nil
	}
	names := op.Names()
	return slices.DeleteFunc(slices.Clone(c.judged[condition]), func(name string) bool { return !names[name] })
}

// opened returns the ways in which the newer document widens the access to an operation.
func (c *documentComparison) opened(p operationPair) []string {
	is, was := c.access(&c.is, p.is), c.access(&c.was, p.was)
	if p.by == renamed { // two operations, of which one has the name of the other
		if is.Exposed && was.Exposed && was.ByDocument.Safe && !is.ByDocument.Safe {
			return []string{ChangesData}
		}
		return nil
	}
	what := is.Opened(&was, impliedScopes(c.is.c))
	if at := slices.Index(what, LetThrough); at >= 0 {
		what[at] = Unhidden
	}
	return what
}

// opening is one way in which one operation is wider.
type opening struct{ what, operation string }

// openedAgain returns the ways in which operations that are back are wider than when they left. known tells which operations have not
// left: those at their place, and under their operationId those that have moved. One that has moved can take the place of one that left.
func (c *documentComparison) openedAgain(former []source.FormerOperation, next []*openapi.Operation, known map[*openapi.Operation]likeness) (all []opening) {
	operations, documents := make([]*openapi.Operation, 0, len(former)), map[*openapi.Operation]*source.Document{}
	for _, f := range former {
		operations = append(operations, f.Operation)
		documents[f.Operation] = f.Document
	}
	for _, p := range pairOperations(operations, next) {
		if p.by == renamed || known[p.is] == sameKey || known[p.is] >= moved && p.by == moved {
			continue
		}
		v := c.was
		v.document = documents[p.was]
		is, was := c.is.accessTo(p.is, guarded(v.c)), v.accessTo(p.was, guarded(v.c))
		for _, what := range is.Opened(&was, impliedScopes(v.c)) {
			if what == LetThrough {
				what = Unhidden
			}
			all = append(all, opening{what, p.is.Method + " " + p.is.Path})
		}
	}
	return all
}

// access evaluates the access to an operation with the part that the document alone decides.
func (c *documentComparison) access(v *permissions, op *openapi.Operation) Access {
	a := v.accessTo(op, guarded(v.c))
	if !a.Exposed {
		return a
	}
	a.ByDocument.Safe, a.ByDocument.Slashes = httpmethod.IsSafe(op.Method), op.SlashVariables()
	subject := source.Subject(v.name, op)
	subject.Claimed = v.api.Claimed()
	for i := range v.c.Endpoints {
		if e := &v.c.Endpoints[i]; e.Has(subject) {
			a.ByDocument.Endpoints = append(a.ByDocument.Endpoints, e.Name)
		}
	}
	if choice := v.document.Credentials.Choices[op]; choice != nil {
		a.ByDocument.Credentials = choice.Schemes()
	} else if v.api.Credential != nil {
		a.ByDocument.Credentials = []string{"default"}
	}
	a.ByDocument.Judged = c.judgedArguments(a.Condition, op)
	if c.sameSettings {
		a.ByDocument.Origin, _ = origin.Of(op.Base)
	}
	return a
}
