package gateway

import (
	"errors"
	"slices"
	"strings"

	"drawbridge/config"
	"drawbridge/gateway/admin"
	"drawbridge/gateway/source"
	"drawbridge/openapi"
)

// unusable lists the settings of an API's operations that can't be applied, which is found when a generation is built.
// The operations are served without them.
type unusable struct {
	problems []openapi.Problem
	settings []*admin.Setting             // position of the setting in the configuration; nil if the document declares it
	of       map[*openapi.Operation][]int // indexes into problems, by operation
}

// unusable reports a setting of an operation that can't be applied, in the log and among the problems of the API. key
// is the key of the setting in a rule; has finds the rule that sets it. If no rule does, an extension of the document
// declares it.
func (gen *generation) unusable(g *Gateway, s *source.Source, op *openapi.Operation, code, key, text string, has func(*config.Settings) bool) {
	g.warnUnusable(s, op, gen.report(s, op, code, key, text, has))
}

// unusableAt is unusable for a setting given by its full configuration key.
func (gen *generation) unusableAt(g *Gateway, s *source.Source, op *openapi.Operation, code, key, text string) {
	g.warnUnusable(s, op, gen.reportAt(s, op, code, key, text))
}

func (g *Gateway) warnUnusable(s *source.Source, op *openapi.Operation, err error) {
	if err != nil {
		g.log.Warn("a setting can't be used for an operation, which is served without it", "api", s.Name, "method", op.Method, "path", op.Path, "error", err)
	}
}

// formerly reports, like unusable, a setting that is applied but uses a name from the previous release.
func (gen *generation) formerly(g *Gateway, s *source.Source, op *openapi.Operation, code, key, text string, has func(*config.Settings) bool) {
	if err := gen.report(s, op, code, key, text+"; the next release will not know the former name", has); err != nil {
		g.log.Warn("a setting has a name that the next release will not know", "api", s.Name, "method", op.Method, "path", op.Path, "error", err)
	}
}

// report adds a setting to the problems of the API and returns it for the log; nil if maxReasons are already listed.
func (gen *generation) report(s *source.Source, op *openapi.Operation, code, key, text string, has func(*config.Settings) bool) error {
	if rule := gen.config.RuleOf(has); rule != "" {
		return gen.reportAt(s, op, code, rule+"."+key, text)
	}
	problem := openapi.Problem{Position: op.Position, Pointer: op.Pointer, Code: code, Message: key + ": " + text}
	if e := extensionOf(op, key); e != nil {
		problem.Position, problem.Pointer = e.Position, e.Pointer
		problem.Message = e.Name + strings.TrimPrefix(key, config.ExtensionKey(e.Name)) + ": " + text
	}
	return gen.addUnusable(s, op, problem, nil, errors.New(problem.Message))
}

// reportAt is report for a setting given by its full configuration key.
func (gen *generation) reportAt(s *source.Source, op *openapi.Operation, code, key, text string) error {
	at := gen.config.At(key)
	problem := openapi.Problem{Position: op.Position, Pointer: op.Pointer, Code: code, Message: at.Key + ": " + text}
	setting := &admin.Setting{File: at.File, Line: at.Line, Column: at.Column, Key: at.Key}
	return gen.addUnusable(s, op, problem, setting, gen.config.Wrong(at.Key, errors.New(text)))
}

// addUnusable adds a problem to the API and returns logged; nil if maxReasons are already listed.
func (gen *generation) addUnusable(s *source.Source, op *openapi.Operation, problem openapi.Problem, setting *admin.Setting, logged error) error {
	u := gen.unusables[s.Name]
	if u == nil {
		u = &unusable{of: map[*openapi.Operation][]int{}}
		gen.unusables[s.Name] = u
	}
	u.of[op] = append(u.of[op], len(u.problems))
	u.problems, u.settings = append(u.problems, problem), append(u.settings, setting)
	if len(u.problems) > maxReasons {
		return nil
	}
	return logged
}

// extensionOf returns the last extension of an operation that declares a setting, because earlier ones have no effect.
// It returns nil if there is none.
func extensionOf(op *openapi.Operation, key string) *openapi.Extension {
	key = key[:len(key)-len(strings.TrimLeft(key, "abcdefghijklmnopqrstuvwxyz_"))]
	for i := range slices.Backward(op.Extensions) {
		if e := &op.Extensions[i]; config.ExtensionKey(e.Name) == key {
			return e
		}
	}
	return nil
}
