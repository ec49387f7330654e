package plan

import (
	"maps"
	"slices"
	"strings"

	"drawbridge/auth"
	"drawbridge/config"
	"drawbridge/gateway/redact"
	"drawbridge/gateway/source"
	"drawbridge/openapi"
)

// changedArguments are the arguments of an operation that rules change, or the reason why they can't be changed.
type changedArguments struct {
	arguments *Arguments
	unfit     string
}

// filled returns the names that the document has for the arguments that have a value in any request. The receiver may be nil.
func (c *changedArguments) filled() []string {
	if c == nil || c.arguments == nil {
		return nil
	}
	return c.arguments.filled
}

// argumentChanges are the changes of all operations, whether they are tools or only called for the jobs of others.
type argumentChanges struct {
	byOperation map[*source.Source]map[*openapi.Operation]*changedArguments
	unfit       map[*openapi.Operation]string // of those that the configuration exposes
	secrets     secretSets
}

// add adds those of further sources.
func (a argumentChanges) add(more argumentChanges) {
	maps.Copy(a.byOperation, more.byOperation)
	maps.Copy(a.unfit, more.unfit)
}

// newChangedArguments compiles what rules change of arguments of sources. Operations that no such rule matches cost nothing.
func newChangedArguments(o *Options, sources []*source.Source, rejected *rejections) argumentChanges {
	all := argumentChanges{byOperation: map[*source.Source]map[*openapi.Operation]*changedArguments{}, unfit: map[*openapi.Operation]string{}, secrets: secretSets{}}
	if !slices.ContainsFunc(o.Config.Rules, func(r config.Rule) bool { return len(r.Set.Arguments) > 0 }) {
		return all
	}
	for _, s := range sources {
		if s.Document == nil {
			continue
		}
		all.byOperation[s] = map[*openapi.Operation]*changedArguments{}
		for _, op := range s.Document.API.Operations {
			o.Pace.Step()
			subject := s.Subject(op)
			set := o.Config.Settings(subject, s.Document.Extensions.Settings[op])
			if len(set.Arguments) == 0 {
				continue
			}
			arguments, unfit := newArguments(op, &s.Config, set.Arguments, conditionOf(o, set), rejected.of(s.Name, op))
			if arguments == nil && unfit == "" {
				continue
			}
			all.byOperation[s][op] = &changedArguments{arguments, unfit}
			if unfit != "" && s.Config.Exposes(subject) {
				all.unfit[op] = unfit
			}
		}
	}
	return all
}

func conditionOf(o *Options, set config.Settings) *auth.Condition { return o.Conditions[set.Condition] }

// secretSets holds what finds the secrets of an API and of the arguments of its tools, so that tools share it.
type secretSets map[string]*redact.Configured

// of returns what finds the secrets that calls of a tool are sent with.
func (s secretSets) of(t *draft) *redact.Configured {
	secrets := argumentSecrets(t.settings.Arguments)
	if len(secrets) == 0 {
		return t.source.Secrets
	}
	var key strings.Builder
	key.WriteString(t.source.Name)
	for _, secret := range secrets {
		key.WriteString("\x00" + secret.Reveal())
	}
	known := s[key.String()]
	if known == nil {
		known = t.source.Secrets.With(secrets...)
		s[key.String()] = known
	}
	return known
}

// JobRequest returns the operation that builds a request about a job, and its arguments as the request has them: with the
// fixed values that rules give all requests of the operation. caller is the caller of the job.
func (p *Plan) JobRequest(op *openapi.Operation, args []byte, caller *auth.Principal) (*openapi.Operation, []byte, error) {
	changed := p.changed[op]
	switch {
	case changed == nil:
		return op, args, nil
	case changed.unfit != "":
		return nil, nil, &UnfitError{changed.unfit}
	}
	args, err := changed.arguments.Adopt(args, caller)
	return changed.arguments.all, args, err
}

// UnfitError is the error for a request of an operation whose arguments can't be changed as a rule demands.
type UnfitError struct{ reason string }

// Error implements error.
func (e *UnfitError) Error() string { return "the operation is not called: " + e.reason }
