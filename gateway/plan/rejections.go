package plan

import (
	"errors"
	"log/slog"
	"slices"
	"strings"

	"drawbridge/config"
	"drawbridge/gateway/admin"
	"drawbridge/openapi"
)

// Rejected lists the settings of an API's operations that can't be applied. The operations are served without them.
type Rejected struct {
	// Problems has one problem per setting and operation.
	Problems []openapi.Problem
	// Settings has the position of each setting in the configuration; nil if the document declares it.
	Settings []*admin.Setting
	// Of maps operations to indexes into Problems.
	Of map[*openapi.Operation][]int
}

// maxLogged is the maximum number of rejected settings of an API that are logged.
const maxLogged = 100

// rejections collects the rejected settings of a configuration, and logs them.
type rejections struct {
	config *config.Config
	log    *slog.Logger
	byAPI  map[string]*Rejected
}

func newRejections(c *config.Config, log *slog.Logger) *rejections {
	return &rejections{config: c, log: log, byAPI: map[string]*Rejected{}}
}

// of returns the reporter of an operation's settings.
func (r *rejections) of(api string, op *openapi.Operation) reporter { return reporter{r, api, op} }

// add adds a problem to those of an API, and reports whether it is logged.
func (r *rejections) add(api string, op *openapi.Operation, problem openapi.Problem, setting *admin.Setting) (logged bool) {
	all := r.byAPI[api]
	if all == nil {
		all = &Rejected{Of: map[*openapi.Operation][]int{}}
		r.byAPI[api] = all
	}
	all.Of[op] = append(all.Of[op], len(all.Problems))
	all.Problems, all.Settings = append(all.Problems, problem), append(all.Settings, setting)
	return len(all.Problems) <= maxLogged
}

// reporter reports the settings of one operation that can't be applied.
type reporter struct {
	all       *rejections
	api       string
	operation *openapi.Operation
}

// ruleOf returns the key of the rule that has a setting, or "" if none does.
func (r reporter) ruleOf(has func(*config.Settings) bool) string { return r.all.config.RuleOf(has) }

// reject reports a setting that can't be applied, in the log and among the problems of the API. key is the key of the
// setting in a rule; has finds the rule that sets it. If no rule does, an extension of the document declares it.
func (r reporter) reject(code, key, text string, has func(*config.Settings) bool) {
	r.warn(r.report(code, key, text, has))
}

// rejectAt is reject for a setting given by its full configuration key.
func (r reporter) rejectAt(code, key, text string) { r.warn(r.reportAt(code, key, text)) }

func (r reporter) warn(err error) {
	if err != nil {
		r.all.log.Warn("a setting can't be applied to an operation, which is served without it", "api", r.api, "method", r.operation.Method, "path", r.operation.Path, "error", err)
	}
}

// deprecate reports, like reject, a setting that is applied but uses a name from the previous release.
func (r reporter) deprecate(code, key, text string, has func(*config.Settings) bool) {
	if err := r.report(code, key, text+"; the next release will not know the former name", has); err != nil {
		r.all.log.Warn("a setting uses a former name, which the next release will not recognize", "api", r.api, "method", r.operation.Method, "path", r.operation.Path, "error", err)
	}
}

// doubt reports, like reject, a setting that is applied although a part of it seems to fit nothing.
func (r reporter) doubt(code, key, text string, has func(*config.Settings) bool) {
	if err := r.report(code, key, text, has); err != nil {
		r.all.log.Warn("a setting names something that the document does not have", "api", r.api, "method", r.operation.Method, "path", r.operation.Path, "error", err)
	}
}

// doubtAt reports, like rejectAt, a setting that is applied and may not restrict as much as it seems to.
func (r reporter) doubtAt(code, key, text string) {
	if err := r.reportAt(code, key, text); err != nil {
		r.all.log.Warn("a setting may not restrict as much as it seems to", "api", r.api, "method", r.operation.Method, "path", r.operation.Path, "error", err)
	}
}

// report adds a setting to the problems of the API and returns it for the log; nil if it is not logged.
func (r reporter) report(code, key, text string, has func(*config.Settings) bool) error {
	if rule := r.ruleOf(has); rule != "" {
		return r.reportAt(code, rule+"."+key, text)
	}
	op := r.operation
	problem := openapi.Problem{Position: op.Position, Pointer: op.Pointer, Code: code, Message: key + ": " + text}
	if e := extensionOf(op, key); e != nil {
		problem.Position, problem.Pointer = e.Position, e.Pointer
		problem.Message = e.Name + strings.TrimPrefix(key, config.ExtensionKey(e.Name)) + ": " + text
	}
	if !r.all.add(r.api, op, problem, nil) {
		return nil
	}
	return errors.New(problem.Message)
}

// reportAt is report for a setting given by its full configuration key.
func (r reporter) reportAt(code, key, text string) error {
	c, op := r.all.config, r.operation
	at := c.At(key)
	problem := openapi.Problem{Position: op.Position, Pointer: op.Pointer, Code: code, Message: at.Key + ": " + text}
	if !r.all.add(r.api, op, problem, &admin.Setting{File: at.File, Line: at.Line, Column: at.Column, Key: at.Key}) {
		return nil
	}
	return c.Wrong(key, errors.New(text))
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
