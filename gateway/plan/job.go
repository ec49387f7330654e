package plan

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"drawbridge/auth/credential"
	"drawbridge/config"
	"drawbridge/gateway/job"
	"drawbridge/gateway/source"
	"drawbridge/openapi"
	"drawbridge/openapi/httpmethod"
)

// codeJob is the problem code of job settings that can't be used, in the form of the document's problem codes.
const codeJob = "job"

// jobOf returns the definition of the jobs of an operation. Settings that can't be used are reported with their position and
// ignored. guessed is the definition for operations that neither a rule nor a document describes.
func jobOf(r *rejections, guessed *job.Definition, s *source.Source, op *openapi.Operation, set config.Settings) *job.Definition {
	choice := func(op *openapi.Operation) *credential.Choice { return s.Document.Credentials.Choices[op] }
	if set.Job.Off() {
		never := *guessed // still answers calls that started a job before
		never.Never = true
		return &never
	}
	links := job.LinksOf(op, s.Document.API.Operations, choice)
	if set.Job == nil {
		if !job.OnlyAccepted(op) {
			return guessed
		}
		return job.FromLinks(links)
	}
	byRule := r.config.RuleOf(func(of *config.Settings) bool { return of.Job == set.Job }) != ""
	d, err := job.New(set.Job, op, links, !byRule, func(id string) (*openapi.Operation, *credential.Choice) {
		for _, other := range s.Document.API.Operations {
			if other.ID == id {
				return other, choice(other)
			}
		}
		return nil, nil
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
			r.reject(s, op, codeJob, at, reason.Error(), func(of *config.Settings) bool { return of.Job == set.Job })
		}
	}
	return guessed
}

// checkJobRequests removes from the jobs of plans the requests that their documents may not name, and marks the plans that
// report on jobs.
//
// A document that describes jobs makes the gateway send requests that no caller has made. It may name only requests that the
// caller could make itself: an operation that is a tool, without a condition, elicitation or consent; the caller's scopes are
// checked when the request is sent. A status request must be safe, and a safe call has no unsafe cancellation or answer.
func checkJobRequests(r *rejections, pace *openapi.Pace, guessed *job.Definition, set *Set) {
	for _, t := range set.Catalog.All() {
		pace.Step()
		p := set.ByOperation[t.Operation]
		if !p.Job.HasRequests() {
			continue
		}
		if faults := jobFaults(p, set); len(faults) > 0 {
			for _, fault := range faults {
				r.reject(p.Source, p.Operation, codeJob, "job."+fault.key, fault.err.Error(), func(*config.Settings) bool { return false })
			}
			p.Job = guessed
			continue
		}
		for _, request := range []*job.Request{p.Job.Status, p.Job.Result} {
			if request == nil || request.Operation == nil || !httpmethod.IsSafe(request.Method) {
				continue
			}
			if polled := set.ByOperation[request.Operation]; polled != nil {
				polled.PolledJob = p.Job
			}
		}
	}
}

// jobFault is a request of a job that its document may not name.
type jobFault struct {
	key string // below job
	err error
}

// jobFaults returns the requests of a plan's job that its document may not name. Those that links name are removed.
func jobFaults(p *Plan, set *Set) (faults []jobFault) {
	for _, use := range usesOf(p.Job) {
		request := *use.at
		var err error
		switch {
		case request == nil:
			continue
		case request.Operation != nil && set.Unapproved[request.Operation] != "":
			err = errors.New(set.Unapproved[request.Operation] + ", and is held back until it is approved")
		case request.Named:
			continue
		default:
			err = p.overreach(request, use.look, set.ByOperation)
		}
		switch {
		case err == nil:
		case request.Linked:
			*use.at = nil
		default:
			faults = append(faults, jobFault{use.key, err})
		}
	}
	return faults
}

// jobUse is a key of a job's settings that contains a request.
type jobUse struct {
	key  string
	at   **job.Request
	look bool // the request must be safe
}

func usesOf(d *job.Definition) []jobUse {
	all := []jobUse{{"status", &d.Status, true}, {"result", &d.Result, true}, {"cancel", &d.Cancel, false}}
	if d.Questions != nil {
		all = append(all, jobUse{"questions.answer", &d.Questions.Answer, false})
	}
	return all
}

// overreach returns the reason why a document may not name a request, or nil if it may.
func (p *Plan) overreach(r *job.Request, look bool, plans map[*openapi.Operation]*Plan) error {
	if r.Operation == nil {
		if r.Method != http.MethodGet && p.Safe {
			return errors.New("the call changes nothing, and this may")
		}
		return nil
	}
	name := fmt.Sprintf("%s %s", r.Operation.Method, r.Operation.Path)
	switch q := plans[r.Operation]; {
	case q == nil || q.Tool.Hidden:
		return fmt.Errorf("%s is no tool, and only a rule can name it", name)
	case look && !q.Safe:
		return fmt.Errorf("%s may change something, and a look must not", name)
	case !q.Safe && p.Safe:
		return fmt.Errorf("%s may change something, and the call itself does not", name)
	case q.Condition != nil:
		return fmt.Errorf("a rule has a condition for %s, so only a rule can name it", name)
	case q.AsksUser():
		return fmt.Errorf("%s asks the user, so only a rule can name it", name)
	}
	return nil
}
