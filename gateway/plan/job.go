package plan

import (
	"errors"
	"strings"

	"drawbridge/auth/credential"
	"drawbridge/config"
	"drawbridge/gateway/job"
	"drawbridge/gateway/source"
	"drawbridge/openapi"
)

// codeJob is the problem code of job settings that can't be used, in the form of the document's problem codes.
const codeJob = "job"

// newJob returns the definition of the jobs of an operation; set are its job settings, changed the arguments that rules
// change. Settings that can't be used are
// reported with their position and ignored. guessed defines the jobs that neither a rule nor the document describes.
func newJob(document *source.Document, op *openapi.Operation, set *config.Job, changed map[*openapi.Operation]*changedArguments, guessed *job.Definition, r reporter) *job.Definition {
	choice := func(op *openapi.Operation) *credential.Choice { return document.Credentials.Choices[op] }
	if set.Off() {
		never := *guessed // still answers calls that started a job before
		never.Never = true
		return &never
	}
	links := job.LinksOf(op, document.API.Operations, choice)
	if set == nil {
		if !job.OnlyAccepted(op) {
			return guessed
		}
		return job.FromLinks(links)
	}
	has := func(of *config.Settings) bool { return of.Job == set }
	d, err := job.New(set, op, links, r.ruleOf(has) == "", func(id string) (*openapi.Operation, *credential.Choice, []string) {
		for _, other := range document.API.Operations {
			if other.ID == id {
				return other, choice(other), changed[other].filled()
			}
		}
		return nil, nil, nil
	})
	if err == nil {
		return d
	}
	for _, one := range config.SplitErrors(err) {
		key, reasons := "job", []error{one}
		var wrong *job.Error
		if errors.As(one, &wrong) {
			key, reasons = strings.TrimSuffix("job."+wrong.Key, "."), config.SplitErrors(wrong.Unwrap())
		}
		for _, reason := range reasons {
			at := key
			var below *job.Error
			if errors.As(reason, &below) {
				at, reason = at+"."+below.Key, below.Unwrap()
			}
			r.reject(codeJob, at, reason.Error(), has)
		}
	}
	return guessed
}
