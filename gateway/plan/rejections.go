package plan

import (
	"errors"
	"log/slog"
	"slices"
	"strings"

	"drawbridge/config"
	"drawbridge/gateway/admin"
	"drawbridge/gateway/source"
	"drawbridge/openapi"
)

// Rejected lists the settings of an API's operations that can't be applied. The operations are served without them.
type Rejected struct {
	Problems []openapi.Problem
	// Settings are the positions of the settings in the configuration, by problem; nil if the document declares it.
	Settings []*admin.Setting
	// Of are the places in Problems, by operation.
	Of map[*openapi.Operation][]int
}

// maxLogged is the number of rejected settings of an API beyond which further ones are only reported, not logged.
const maxLogged = 100

// rejections collects the settings that can't be applied, which is found when plans are compiled.
type rejections struct {
	config  *config.Config
	log     *slog.Logger
	entries map[*source.Source]string // configuration entry of each API, such as apis[0]
	byAPI   map[string]*Rejected
}

// reject reports a setting of an operation that can't be applied, in the log and among the problems of the API. key is the
// key of the setting in a rule; has finds the rule that sets it. If no rule does, an extension of the document declares
// it.
func (r *rejections) reject(s *source.Source, op *openapi.Operation, code, key, text string, has func(*config.Settings) bool) {
	r.warn(s, op, r.add(s, op, code, key, text, has))
}

// rejectAt is reject for a setting given by its full configuration key.
func (r *rejections) rejectAt(s *source.Source, op *openapi.Operation, code, key, text string) {
	r.warn(s, op, r.addAt(s, op, code, key, text))
}

func (r *rejections) warn(s *source.Source, op *openapi.Operation, err error) {
	if err != nil {
		r.log.Warn("a setting can't be applied to an operation, which is served without it", "api", s.Name, "method", op.Method, "path", op.Path, "error", err)
	}
}

// deprecate reports, like reject, a setting that is applied but uses a name from the previous release.
func (r *rejections) deprecate(s *source.Source, op *openapi.Operation, code, key, text string, has func(*config.Settings) bool) {
	if err := r.add(s, op, code, key, text+"; the next release will not know the former name", has); err != nil {
		r.log.Warn("a setting uses a former name, which the next release will not recognize", "api", s.Name, "method", op.Method, "path", op.Path, "error", err)
	}
}

// add adds a setting to the problems of the API and returns it for the log; nil if maxLogged are already listed.
func (r *rejections) add(s *source.Source, op *openapi.Operation, code, key, text string, has func(*config.Settings) bool) error {
	if rule := r.config.RuleOf(has); rule != "" {
		return r.addAt(s, op, code, rule+"."+key, text)
	}
	problem := openapi.Problem{Position: op.Position, Pointer: op.Pointer, Code: code, Message: key + ": " + text}
	if e := extensionOf(op, key); e != nil {
		problem.Position, problem.Pointer = e.Position, e.Pointer
		problem.Message = e.Name + strings.TrimPrefix(key, config.ExtensionKey(e.Name)) + ": " + text
	}
	return r.addProblem(s, op, problem, nil, errors.New(problem.Message))
}

// addAt is add for a setting given by its full configuration key.
func (r *rejections) addAt(s *source.Source, op *openapi.Operation, code, key, text string) error {
	at := r.config.At(key)
	problem := openapi.Problem{Position: op.Position, Pointer: op.Pointer, Code: code, Message: at.Key + ": " + text}
	setting := &admin.Setting{File: at.File, Line: at.Line, Column: at.Column, Key: at.Key}
	return r.addProblem(s, op, problem, setting, r.config.Wrong(at.Key, errors.New(text)))
}

// addProblem adds a problem to the API and returns logged; nil if maxLogged are already listed.
func (r *rejections) addProblem(s *source.Source, op *openapi.Operation, problem openapi.Problem, setting *admin.Setting, logged error) error {
	of := r.byAPI[s.Name]
	if of == nil {
		of = &Rejected{Of: map[*openapi.Operation][]int{}}
		r.byAPI[s.Name] = of
	}
	of.Of[op] = append(of.Of[op], len(of.Problems))
	of.Problems, of.Settings = append(of.Problems, problem), append(of.Settings, setting)
	if len(of.Problems) > maxLogged {
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
