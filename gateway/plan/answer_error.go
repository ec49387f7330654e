package plan

import (
	"drawbridge/config"
	"drawbridge/gateway/projection"
	"drawbridge/openapi"
)

// codeError is the problem code of settings for failures in successful responses that fit nothing.
const codeError = "failure"

// newFailure returns how successful responses of an operation report failures; nil if the status alone decides. Names that the
// responses don't have are reported, if that is so of every operation that the rule is for: documents often describe the data of a
// success alone, and a rule for a whole API is for lists as well.
func newFailure(o *Options, op *openapi.Operation, settings *config.Settings, r reporter, u *unfit) *projection.Failure {
	set := settings.Error
	if !set.On() {
		return nil
	}
	f := &projection.Failure{When: o.Programs[set.When], Message: o.Programs[set.Message]}
	if f.When == nil {
		return nil
	}
	shape := op.Answers.Shape()
	if settings.Progress.On() && settings.Progress.Result != "" {
		shape = nil // the answer is a part of what the document describes
	}
	has := func(of *config.Settings) bool { return of.Error == set }
	check := func(key string, program *projection.Program) {
		_, missing := program.Check(shape)
		u.add(unfitKey{set, key}, len(missing) == 0, func() {
			for _, m := range missing {
				r.doubt(codeError, "error."+key, missingText(m), has)
			}
		})
	}
	check("when", f.When)
	if f.Message != nil {
		check("message", f.Message)
	}
	return f
}
