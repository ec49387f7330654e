package readiness

import (
	"slices"
	"strings"

	"drawbridge/openapi"
	"drawbridge/openapi/httpmethod"
	"drawbridge/openapi/schema"
	"drawbridge/openapi/tree"
)

const (
	manyArguments = 25 // arguments of one tool
	noisyShare    = 80 // percent of the operations that share a header
	noisyLeast    = 5  // operations of a document of which that is said
	// exampledInput is the size of a schema of arguments above which tools have no example call, in bytes.
	exampledInput = 8 << 10
)

// plainNames are names of arguments that need no description.
var plainNames = []string{"limit", "offset", "page", "per_page", "perpage", "page_size", "pagesize", "q", "query", "search", "sort", "order", "email", "password", "username", "url", "title", "description", "name"}

// checkArguments looks at the parameters.
func (s *subject) checkArguments() {
	if n := len(s.arguments); n > manyArguments {
		s.find(ArgumentsMany, nil, "it has %d arguments; hide those that no model needs", n)
	}
	for i := range s.parameters {
		p := &s.parameters[i]
		if p.in == "body" {
			continue
		}
		published, ok := s.argument(p.in, p.name)
		if !ok {
			continue
		}
		if s.walk.isUntyped(p.schema) && !published.Has("type") {
			s.find(ArgumentUntyped, p.written, "%s has no type; give its schema", quoted(p.name))
		}
		if !(isNoisy(p) && s.isTracing(p)) && s.isUnclear(p.node, p.schema, p.name) {
			s.add(found{code: ArgumentUndescribed, at: p.written, message: quoted(p.name) + " has no description, enumeration or example; say which values it takes", parameter: p})
		}
	}
}

// isUnclear reports whether nothing but the name says what a value is.
func (s *subject) isUnclear(owner, schema *tree.Node, name string) bool {
	if slices.Contains(plainNames, strings.ToLower(name)) || strings.TrimSpace(owner.Get("description").Text()) != "" {
		return false
	}
	for _, keyword := range []string{"description", "enum", "const", "example", "examples", "default"} {
		if value := s.walk.keyword(schema, keyword); value != nil && (keyword != "description" || strings.TrimSpace(value.Text()) != "") {
			return false
		}
	}
	if owner.Get("example") != nil || owner.Get("examples") != nil {
		return false
	}
	switch s.walk.kind(schema) {
	case "boolean":
		return false
	case "string":
		return s.walk.keyword(schema, "format") == nil
	case "array":
		items := s.walk.keyword(schema, "items")
		return s.walk.keyword(items, "enum") == nil && len(s.walk.members(items)) == 0
	case "object":
		return len(s.walk.members(schema)) == 0
	}
	return true
}

// checkBody looks at the body and its members.
func (s *subject) checkBody(d *document) {
	if s.body == nil || httpmethod.IsSafe(s.Operation.Method) {
		return
	}
	if s.walk.isUntyped(s.body.schema) || s.walk.kind(s.body.schema) == "object" && s.isOpen(s.body.schema) {
		s.find(BodyUntyped, s.body.node, "the body has no schema that names its members; a model has to guess them")
		return
	}
	for _, m := range s.walk.members(s.body.schema) {
		if _, ok := s.argument("body", m.name); !ok || !s.isUnclear(nil, m.schema, m.name) {
			continue
		}
		if s.walk.isUntyped(m.schema) {
			s.find(ArgumentUntyped, m.schema, "%s of the body has no type; give its schema", quoted(m.name))
			continue
		}
		s.add(found{code: ArgumentUndescribed, at: m.schema, message: quoted(m.name) + " of the body has no description, enumeration or example; say which values it takes", member: &m})
	}
	if !s.walk.isDeep(s.body.schema) || s.Operation.Example != nil || len(s.Operation.Input) > exampledInput || s.walk.left < 0 {
		return
	}
	if example := d.exampleOf(s.body); example != nil {
		s.find(ExampleMissing, example, "the body has objects in objects, and its example is not shown: it breaks the schema, or has more than 300 bytes; give a short one")
		return
	}
	s.find(ExampleMissing, s.body.node, "the body has objects in objects and no example; a short one shows how they nest")
}

// checkExamples finds the examples and defaults that break their schema, by the problems of the document.
func (s *subject) checkExamples(api *openapi.API) {
	for _, i := range s.Operation.Problems {
		if p := api.Problems[i]; p.Code == schema.CodeSchemaExample {
			s.add(found{code: ExampleInvalid, place: Place{p.Position.File, p.Position.Line, p.Position.Column, p.Pointer}, message: p.Message})
		}
	}
}

// isOpen reports whether a schema describes none of its members.
func (s *subject) isOpen(schema *tree.Node) bool {
	if s.walk.keyword(schema, "properties") != nil {
		return false
	}
	for _, keyword := range []string{"anyOf", "oneOf", "allOf", "additionalProperties", "patternProperties"} {
		if n := s.walk.keyword(schema, keyword); n.Kind() == tree.Object && n.Len() > 0 || n.Kind() == tree.Array {
			return false
		}
	}
	return true
}

// tracing are headers that only programs set.
var tracing = []string{"x-request-id", "x-correlation-id", "x-trace-id", "traceparent", "tracestate", "baggage", "user-agent", "x-client-version", "x-client-name", "x-client-id-version", "x-sdk-version", "x-app-version", "x-amzn-trace-id", "x-b3-traceid", "x-b3-spanid", "x-cloud-trace-context"}

// isTracing reports whether a header is set by programs: it identifies the request or the version of the client or API.
func (s *subject) isTracing(p *parameter) bool {
	name := strings.ToLower(p.name)
	if slices.Contains(tracing, name) {
		return true
	}
	all := words(p.name)
	if slices.Contains(all, "trace") || slices.Contains(all, "correlation") {
		return true
	}
	return slices.Contains(all, "version") && slices.ContainsFunc(all, func(w string) bool { return w == "api" || w == "client" || w == "sdk" })
}

// meaningful are headers that change the effect of a call, however many operations have them.
var meaningful = []string{"idempotency-key", "if-match", "if-none-match", "if-modified-since", "if-unmodified-since", "range", "prefer"}

// isNoisy reports whether a parameter is an optional header or cookie that does not change the effect of a call.
func isNoisy(p *parameter) bool {
	return (p.in == "header" || p.in == "cookie") && p.node.Get("required").Text() != "true" && !slices.Contains(meaningful, strings.ToLower(p.name))
}

// findNoise finds optional headers and cookies that (nearly) all operations share, and those that only programs set.
func findNoise(subjects []*subject) {
	key := func(p *parameter) string { return p.in + " " + strings.ToLower(p.name) }
	shared := map[string]int{}
	for _, s := range subjects {
		for i := range s.parameters {
			if p := &s.parameters[i]; isNoisy(p) {
				shared[key(p)]++
			}
		}
	}
	for _, s := range subjects {
		for i := range s.parameters {
			p := &s.parameters[i]
			if _, ok := s.argument(p.in, p.name); !ok || !isNoisy(p) {
				continue
			}
			n := shared[key(p)]
			switch {
			case s.isTracing(p):
				s.add(found{code: HeaderNoise, at: p.written, message: "the " + p.in + " " + quoted(p.name) + " is set by programs, not by models; hide it", parameter: p})
			case len(subjects) >= noisyLeast && n*100 >= noisyShare*len(subjects):
				s.add(found{code: HeaderNoise, at: p.written, message: "nearly every operation has the optional " + p.in + " " + quoted(p.name) + "; hide it unless callers choose it"})
			}
		}
	}
}

func quoted(name string) string { return "\"" + short(name) + "\"" }
