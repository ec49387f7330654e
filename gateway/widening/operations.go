package widening

import (
	"fmt"
	"reflect"
	"slices"

	"drawbridge/config"
	"drawbridge/gateway/plan"
	"drawbridge/gateway/source"
	"drawbridge/openapi"
	"drawbridge/openapi/origin"
	"drawbridge/openapi/text"
)

// Served is a configuration in use with the documents of its APIs.
type Served struct {
	Config *config.Config
	APIs   *source.Set
}

// Document is the document of an API, with the operations that were compared.
type Document struct {
	Was, Is    string                      // the name of the API, under both configurations
	Operations []config.Subject            // the operations that were compared
	Opened     map[string][]config.Subject // those with wider access, by the kind of it, such as [NoConsent]
	// OtherService reports whether the API is an additional one whose calls go to another service than those of each API with the same
	// document.
	OtherService bool
}

// WiderIn lists where a configuration grants more access than the one that is served: per operation where documents are
// known, and otherwise by comparing the two configurations. before is what the one that is served grants.
func (d Served) WiderIn(before *Summary, c *config.Config) []string {
	documents := make([]*Document, len(c.APIs))
	var opens []string
	for i, sources := range d.documentsOf(c) {
		if len(sources) == 0 {
			documents[i] = d.additional(&c.APIs[i])
			continue
		}
		of := &Document{Was: sources[0].Name, Is: sources[0].NameUnder(&c.APIs[i]), Opened: map[string][]config.Subject{}}
		documents[i] = of
		for _, s := range sources {
			opens = append(opens, d.operationsOpened(c, s, &c.APIs[i], of)...)
		}
	}
	return slices.Concat(Wider(before, Of(c, before), func(i int) *Document {
		if i >= len(documents) { // what the APIs of a provider have in common
			return nil
		}
		return documents[i]
	}), opens)
}

// documentsOf returns, for each API of another configuration, the sources that know its document and to which it is
// compared: the source that it succeeds, else all sources of that document.
func (d Served) documentsOf(c *config.Config) [][]*source.Source {
	var old, next []*config.API
	for _, s := range d.APIs.Sources {
		old = append(old, &s.Config)
	}
	for i := range c.APIs {
		next = append(next, &c.APIs[i])
	}
	sameSpec := func(o, n *config.API) bool { return o.Spec == n.Spec }
	succeeds, _ := Pair(old, next, func(o, n *config.API) bool { return reflect.DeepEqual(o, n) },
		func(o, n *config.API) bool { return sameSpec(o, n) && o.Name == n.Name }, sameSpec)
	sources := make([][]*source.Source, len(next))
	for i, at := range succeeds {
		for j, s := range d.APIs.Sources {
			if (j == at || at < 0 && sameSpec(old[j], next[i]) && !isOtherService(s, next[i])) && len(s.Documents()) > 0 {
				sources[i] = append(sources[i], s)
			}
		}
	}
	return sources
}

// additional returns what is known of an API that is compared with none: whether it is another service; nil if nothing is known.
func (d Served) additional(api *config.API) *Document {
	known := false
	for _, s := range d.APIs.Sources {
		if s.Config.Spec == api.Spec {
			if !isOtherService(s, api) {
				return nil
			}
			known = true
		}
	}
	if !known {
		return nil
	}
	return &Document{OtherService: true}
}

// isOtherService reports whether the calls of an API with the document of a source surely go to another service: both have a base URL, or
// no server of the document has the origin of its base URL.
func isOtherService(s *source.Source, api *config.API) bool {
	switch {
	case api.BaseURL == nil:
		return false
	case s.Config.BaseURL != nil:
		return s.Config.BaseURL.String() != api.BaseURL.String()
	}
	documents := s.Documents()
	return len(documents) > 0 && !slices.ContainsFunc(documents, func(document *source.Document) bool {
		return slices.ContainsFunc(document.API.Operations, func(op *openapi.Operation) bool {
			return op.Base != nil && origin.Same(op.Base, api.BaseURL.URL())
		})
	})
}

// operationsOpened lists the access to operations that another configuration grants beyond the current one, for the
// document in use and for the one in quarantine, which may be accepted next. It records the operations in of.
func (d Served) operationsOpened(after *config.Config, s *source.Source, api *config.API, of *Document) []string {
	opens := map[string][]string{}
	var order []string
	tokens := guarded(d.Config) && guarded(after)
	for _, document := range s.Documents() {
		was := permissions{c: d.Config, api: &s.Config, document: document, name: s.Name}
		is := permissions{c: after, api: api, document: document, name: s.NameUnder(api)}
		for _, op := range document.API.Operations {
			of.Operations = append(of.Operations, source.Subject(of.Is, op))
			now, before := is.accessTo(op, tokens), was.accessTo(op, tokens)
			for _, what := range now.Opened(&before, impliedScopes(d.Config)) {
				if opens[what] == nil {
					order = append(order, what)
				}
				if key := op.Method + " " + op.Path; !slices.Contains(opens[what], key) {
					opens[what] = append(opens[what], key)
					of.Opened[what] = append(of.Opened[what], source.Subject(of.Is, op))
				}
			}
		}
	}
	var lines []string
	for _, what := range order {
		lines = append(lines, fmt.Sprintf("apis: %s: %s of %s", s.Name, what, text.List(opens[what], 5)))
	}
	return lines
}

// permissions evaluates the access to the operations of a document under one configuration.
type permissions struct {
	c        *config.Config
	api      *config.API
	document *source.Document
	name     string
}

// accessTo evaluates the access to an operation. Conditions and scopes count where both configurations require tokens.
func (v *permissions) accessTo(op *openapi.Operation, guarded bool) Access {
	subject := source.Subject(v.name, op)
	subject.Claimed = v.api.Claimed()
	if !v.api.Exposes(subject) {
		return Access{}
	}
	set := v.c.Settings(subject, v.own(op))
	a := Access{
		Exposed: true,
		Asked:   Asked(set.Inputs), Fixed: Fixed(set.Arguments), Hidden: Hidden(set.SensitiveFields), SharedAnswers: set.Cache.On() && set.Cache.Shared,
		Jobs: JobCalls(set.Job), Rate: rateOf(set.Rate), Rest: stateOf(reflect.ValueOf(set)),
	}
	a.setPromises(op.Method, &set)
	a.Confirmed = plan.NewConsent(v.c, set, a.Promises&NotDestructive == 0).Needed
	if guarded {
		a.Condition, a.Scopes = set.Condition, v.scopes(op, subject, set)
	}
	return a
}

// scopes returns the scope sets of which a caller needs one, by the endpoint.
func (v *permissions) scopes(op *openapi.Operation, subject config.Subject, set config.Settings) map[string][][]string {
	at := func(defaults []string) (all [][]string) {
		for _, scopes := range v.document.Scopes(op, v.api, set, defaults) {
			all = append(all, cmpSlice(scopes, defaults))
		}
		return all
	}
	scopes := map[string][][]string{"": at(v.c.Auth.DefaultScopes)}
	for i := range v.c.Endpoints {
		if e := &v.c.Endpoints[i]; e.Has(subject) {
			scopes[e.Name] = at(cmpSlice(e.DefaultScopes, v.c.Auth.DefaultScopes))
		}
	}
	return scopes
}

// own returns the settings that a trusted document declares for the operation.
func (v *permissions) own(op *openapi.Operation) config.Settings {
	if !v.api.TrustExtensions {
		return config.Settings{}
	}
	return v.document.Extensions.Settings[op]
}

// guarded reports whether calls need a token.
func guarded(c *config.Config) bool { return c.Auth != nil && !c.Auth.Anonymous }

// impliedScopes returns the scopes that scopes imply.
func impliedScopes(c *config.Config) map[string][]string {
	if c.Auth == nil {
		return nil
	}
	return c.Auth.Implies
}

// cmpSlice returns a, or b if a is empty.
func cmpSlice(a, b []string) []string {
	if len(a) > 0 {
		return a
	}
	return b
}
