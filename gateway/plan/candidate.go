package plan

import (
	"cmp"
	"maps"
	"net/http"
	"slices"

	"drawbridge/auth"
	"drawbridge/config"
	"drawbridge/gateway/catalog"
	"drawbridge/gateway/elicit"
	"drawbridge/gateway/job"
	"drawbridge/gateway/projection"
	"drawbridge/gateway/source"
	"drawbridge/openapi"
	"drawbridge/openapi/httpmethod"
)

// candidate is an operation that the configuration exposes, with the parts of its plan that determine the definition of
// its tool.
type candidate struct {
	source      *source.Source
	operation   *openapi.Operation
	settings    config.Settings
	ruled       *config.Settings // of rules alone, see ruledSettings
	job         *job.Definition
	key         *IdempotencyKey
	elicitation *elicit.Operation
	// requests builds the requests, given has the arguments that callers give before jobs and keys take some away; both are
	// the operation itself unless rules change its arguments.
	requests, given *openapi.Operation
	arguments       *Arguments  // nil unless rules change them
	projection      *Projection // nil if answers are passed on as they are
	failure         *projection.Failure
	servers         *source.Servers // that calls select among; nil if there is nothing to select
	serverArguments serverArguments
}

// candidates are the candidates of sources.
type candidates map[*openapi.Operation]*candidate

func (cs candidates) add(more candidates) { maps.Copy(cs, more) }

// newCandidates returns the operations of sources that the configuration exposes, without those whose arguments can't
// be changed as a rule demands.
func newCandidates(o *Options, sources []*source.Source, changed argumentChanges, rejected *rejections) candidates {
	candidates := candidates{}
	u := newUnfit()
	for _, s := range sources {
		if s.Document == nil {
			continue
		}
		servers := s.Servers()
		for _, op := range s.Document.API.Operations {
			o.Pace.Step()
			if subject := s.Subject(op); s.Config.Exposes(subject) {
				c := newCandidate(o, s, servers, op, o.Config.Settings(subject, s.Document.Extensions.Settings[op]), changed.byOperation[s], rejected.of(s.Name, op), u)
				if c != nil {
					candidates[op] = c
				}
			}
		}
	}
	u.report()
	return candidates
}

func newCandidate(o *Options, s *source.Source, servers *source.Servers, op *openapi.Operation, set config.Settings, all map[*openapi.Operation]*changedArguments, r reporter, u *unfit) *candidate {
	c := &candidate{source: s, servers: servers, operation: op, settings: set, requests: op, given: op}
	c.ruled = ruledSettings(o.Config, s, op, &c.settings)
	if changed := all[op]; changed != nil {
		if changed.unfit != "" {
			return nil
		}
		c.arguments, c.requests, c.given = changed.arguments, changed.arguments.all, changed.arguments.given
	}
	c.takeSafety()
	c.takeLenience(o.Conditions[set.Condition])
	c.arguments = c.arguments.with(c.requests, c.given)
	c.job = newJob(s.Document, c.given, set.Job, all, o.GuessedJob, r)
	c.key = newIdempotencyKey(c.requests, callerOperation(c.given, c.job, nil), set.IdempotencyKey, r)
	if len(set.Inputs) > 0 {
		c.elicitation = newElicitation(callerOperation(c.given, c.job, c.key), set.Inputs, r)
	}
	c.serverArguments = newServerArguments(servers, op, c.listedOperation())
	c.failure = newFailure(o, op, &c.settings, r, u)
	c.projection = newProjection(o, s, op, c.listedOperation(), &c.settings, r, u)
	return c
}

// changesNothing reports whether a call changes nothing: by rules or, without any, by the method.
func (c *candidate) changesNothing() bool {
	return NewAnnotations(c.operation.Method, c.ruled).ReadOnly
}

// takeSafety makes the operation read arguments as safe or unsafe if rules differ from the method in this.
func (c *candidate) takeSafety() {
	safe := c.changesNothing()
	if safe == httpmethod.IsSafe(c.operation.Method) {
		return
	}
	same := c.given == c.requests
	if c.requests = c.requests.WithSafety(safe); same {
		c.given = c.requests
	} else {
		c.given = c.given.WithSafety(safe)
	}
}

// takeLenience has requests sent whose bodies have members of other types than declared, if a rule says so. Arguments that a condition or a
// rule depends on keep their types.
func (c *candidate) takeLenience(condition *auth.Condition) {
	if c.settings.Validation != config.ValidationLenient || condition != nil && !condition.NamesArguments() {
		return
	}
	var strict []string
	if condition != nil {
		strict = slices.Clone(condition.Arguments())
	}
	for name, a := range c.settings.Arguments {
		strict = append(strict, name, a.Name)
	}
	same := c.given == c.requests
	if c.requests = c.requests.Lenient(strict); same {
		c.given = c.requests
	} else {
		c.given = c.given.Lenient(strict)
	}
}

// fileNote says at each place that takes a file that the URI of one is enough.
const fileNote = "Or a drawbridge-file: URI."

// newCatalog returns the definitions of the candidates, and those of kept units. All operations take part in naming.
func newCatalog(o *Options, candidates candidates, kept units) *catalog.Catalog {
	var apis []catalog.API
	for _, s := range o.APIs.Sources {
		if s.Document == nil {
			continue
		}
		if u := kept[s]; u != nil {
			apis = append(apis, u.api(s))
			continue
		}
		apis = append(apis, catalog.API{Name: s.Name, Former: s.FormerName, Yields: s.YieldsName(), Operations: s.Document.API.Operations,
			Choose: func(op *openapi.Operation) (catalog.Choice, bool) {
				c := candidates[op]
				if c == nil {
					return catalog.Choice{}, false
				}
				choice := c.choice()
				if o.Config.FileStore != nil {
					choice.Shown = cmp.Or(choice.Shown, op).WithBase64Note(fileNote)
				}
				return choice, true
			}})
	}
	return catalog.Build(apis, catalog.Options{
		Names: names(o.Config.Tools.Names), Published: o.Published,
		Prefix: prefix(o.Config.Tools.Prefix), APIs: o.Count, MaxName: o.Config.Tools.MaxName, Pace: o.Pace,
		Reserved: append(o.Config.ReservedToolNames(), o.Reserved...),
	})
}

// choice returns the settings of the candidate's definition.
func (c *candidate) choice() catalog.Choice {
	set := &c.settings
	annotations := NewAnnotations(c.operation.Method, set)
	choice := catalog.Choice{
		Annotations: &annotations,
		Name:        set.Name, Title: set.Title, Description: set.Description,
		Hidden:       set.Resource.On() && !set.Resource.Tool && c.operation.Method == http.MethodGet,
		ParamHeaders: newParamHeaders(c.given, set.ParamHeaders),
		Shapeless:    set.Progress.On() && set.Progress.Result != "" && (c.projection == nil || c.projection.Shape == nil),
	}
	if listed := c.projection.listed(c.listedOperation()); listed != c.operation {
		choice.Shown = listed
	}
	return choice
}

// listedOperation returns the operation with the arguments that the definition of the tool has: those that are asked of
// the user may be missing, and some select the server.
func (c *candidate) listedOperation() *openapi.Operation {
	listed := callerOperation(c.given, c.job, c.key)
	if c.elicitation != nil {
		listed = c.elicitation.Shown()
	}
	return c.serverArguments.listed(listed)
}

// callerOperation returns an operation without the arguments that the gateway fills in: the callback URL of a job, and
// the idempotency key.
func callerOperation(op *openapi.Operation, j *job.Definition, key *IdempotencyKey) *openapi.Operation {
	switch {
	case key != nil && key.given != nil:
		return key.given
	case j.Callback != nil:
		return j.Callback.Given
	}
	return op
}

func names(n config.Names) catalog.Names {
	if n == config.NamesShort {
		return catalog.Short
	}
	return catalog.ByID
}

func prefix(p config.Prefix) catalog.Prefix {
	switch p {
	case config.PrefixAlways:
		return catalog.Always
	case config.PrefixNever:
		return catalog.Never
	case config.PrefixAuto:
	}
	return catalog.Auto
}
