package gateway

import (
	"errors"

	"drawbridge/config"
	"drawbridge/openapi"
)

// unusable is what the configuration says of an API's operations and what can't be with them, which is found when a
// generation is built. The operations are served without it.
type unusable struct {
	problems []openapi.Problem
	of       map[*openapi.Operation][]int // the places in problems
}

// unusable reports a setting of an operation that can't be used: to the log, with its place, and among the problems of the
// API. key is that of the setting in a rule; has finds the rule that said it, and where none did a document's extension has.
func (gen *generation) unusable(g *Gateway, s *source, op *openapi.Operation, code, key, text string, has func(*config.Settings) bool) {
	message := key + ": " + text
	logged := errors.New(message)
	if rule := gen.config.RuleOf(has); rule != "" {
		logged = gen.config.Wrong(rule+"."+key, errors.New(text))
	}
	u := gen.unusables[s.name]
	if u == nil {
		u = &unusable{of: map[*openapi.Operation][]int{}}
		gen.unusables[s.name] = u
	}
	u.of[op] = append(u.of[op], len(u.problems))
	u.problems = append(u.problems, openapi.Problem{Position: op.Position, Pointer: op.Pointer, Code: code, Message: message})
	if len(u.problems) <= maxReasons {
		g.log.Warn("a setting can't be used for an operation, which is served without it", "api", s.name, "method", op.Method, "path", op.Path, "error", logged)
	}
}
