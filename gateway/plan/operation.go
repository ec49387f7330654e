package plan

import (
	"net/http"

	"drawbridge/config"
	"drawbridge/gateway/catalog"
	"drawbridge/gateway/elicit"
	"drawbridge/gateway/job"
	"drawbridge/gateway/source"
	"drawbridge/openapi"
)

// operation is an operation that the configuration exposes, with the settings that change the definition of its tool.
type operation struct {
	source      *source.Source
	settings    config.Settings
	job         *job.Definition
	key         *IdempotencyKey   // nil if requests carry none
	elicitation *elicit.Operation // nil if the user is asked for no arguments
	// published is the operation as callers see it.
	published *openapi.Operation
}

// exposedOperations returns the APIs whose documents are loaded, for the catalog, and their exposed operations, which are
// complete once the catalog has been built.
func exposedOperations(o *Options, r *rejections) (map[*openapi.Operation]*operation, []catalog.API) {
	operations := map[*openapi.Operation]*operation{}
	var apis []catalog.API
	for _, s := range o.APIs.Sources {
		if s.Document == nil {
			continue
		}
		apis = append(apis, catalog.API{Name: s.Name, Former: s.FormerName, Operations: s.Document.API.Operations,
			Choose: func(op *openapi.Operation) (catalog.Choice, bool) {
				subject := source.Subject(s.Name, op)
				if !s.Config.Exposes(subject) {
					return catalog.Choice{}, false
				}
				set := o.Config.Settings(subject, s.Document.Extensions.Settings[op])
				operations[op] = newOperation(r, o.GuessedJob, s, op, set)
				return operations[op].choice(op), true
			}})
	}
	return operations, apis
}

// newOperation compiles the settings that take arguments from callers: those that the gateway sets itself, then those that
// the user is asked for.
func newOperation(r *rejections, guessed *job.Definition, s *source.Source, op *openapi.Operation, set config.Settings) *operation {
	e := &operation{source: s, settings: set, published: op, job: jobOf(r, guessed, s, op, set)}
	if e.job.Callback != nil {
		e.published = e.job.Callback.Given
	}
	if e.key = idempotencyKeyOf(r, s, op, e.published, set); e.key != nil && e.key.given != nil {
		e.published = e.key.given
	}
	if len(set.Inputs) > 0 {
		if e.elicitation = elicitationOf(r, s, op, e.published, set.Inputs); e.elicitation != nil {
			e.published = e.elicitation.Shown()
		}
	}
	return e
}

// choice returns the choices of the configuration for the tool of an operation.
func (e *operation) choice(op *openapi.Operation) catalog.Choice {
	set := e.settings
	choice := catalog.Choice{
		Name: set.Name, Title: set.Title, Description: set.Description,
		Hidden:       set.Resource.On() && !set.Resource.Tool && op.Method == http.MethodGet,
		ParamHeaders: paramHeaders(op, set.ParamHeaders),
		Shapeless:    set.Progress.On() && set.Progress.Result != "",
	}
	if e.published != op {
		choice.Shown = e.published
	}
	return choice
}
