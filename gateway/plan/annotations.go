package plan

import (
	"drawbridge/config"
	"drawbridge/gateway/catalog"
	"drawbridge/gateway/source"
	"drawbridge/gateway/upstream"
	"drawbridge/openapi"
	"drawbridge/openapi/httpmethod"
)

// NewAnnotations returns the annotations of the tool of a method, with those that its settings change. Whatever is not said follows
// from the rest: a call that changes nothing can be repeated and destroys nothing, and one that changes something is assumed to destroy
// something.
func NewAnnotations(method string, set *config.Settings) catalog.Annotations {
	a := catalog.AnnotationsOf(method)
	if own := set.Annotations; own != nil {
		switch {
		case own.ReadOnly != nil:
			a.ReadOnly = *own.ReadOnly
		case own.Destructive != nil && *own.Destructive:
			a.ReadOnly = false
		}
		if a.Destructive = !a.ReadOnly; own.Destructive != nil {
			a.Destructive = *own.Destructive && !a.ReadOnly
		}
		if own.OpenWorld != nil {
			a.OpenWorld = *own.OpenWorld
		}
		if a.ReadOnly != httpmethod.IsSafe(method) {
			a.Idempotent = a.ReadOnly
		}
	}
	if set.Idempotent != nil {
		a.Idempotent = *set.Idempotent
	}
	return a
}

// ruledSettings returns the settings of an operation by rules alone, where they may differ from those with the document's: what a request
// may do to a service a second time is not for a document to say.
func ruledSettings(o *Options, s *source.Source, op *openapi.Operation, all *config.Settings) *config.Settings {
	if s.Document.Extensions.Settings[op].Annotations == nil {
		return all
	}
	ruled := o.Config.Settings(s.Subject(op), config.Settings{})
	return &ruled
}

// newRetryPolicy returns the retry policy of the requests of a method, by the settings of rules.
func newRetryPolicy(method string, ruled *config.Settings, key *IdempotencyKey) upstream.RetryPolicy {
	readOnly, safe := NewAnnotations(method, ruled).ReadOnly, httpmethod.IsSafe(method)
	switch {
	case ruled.Idempotent != nil && !*ruled.Idempotent:
		return upstream.RetryNever
	case ruled.Idempotent != nil, key != nil, readOnly && !safe:
		return upstream.RetryAlways
	case safe && !readOnly:
		return upstream.RetryNever
	}
	return upstream.RetryByMethod
}
