package gateway

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

// ownJob returns the position of the operator's rule that describes jobs, or "" if a document describes them.
func (gen *generation) ownJob(c *config.Job) string {
	return gen.config.RuleOf(func(of *config.Settings) bool { return of.Job == c })
}

// jobOf returns the definition of the jobs of an operation. Settings that can't be used are reported with their position and
// ignored.
func (gen *generation) jobOf(g *Gateway, s *source.Source, op *openapi.Operation, set config.Settings) *job.Definition {
	choice := func(op *openapi.Operation) *credential.Choice { return s.Document.Credentials.Choices[op] }
	if set.Job.Off() {
		never := *g.guessedJob // still answers calls that started a job before
		never.Never = true
		return &never
	}
	links := job.LinksOf(op, s.Document.API.Operations, choice)
	if set.Job == nil {
		if !job.OnlyAccepted(op) {
			return g.guessedJob
		}
		return job.FromLinks(links)
	}
	d, err := job.New(set.Job, op, links, gen.ownJob(set.Job) == "", func(id string) (*openapi.Operation, *credential.Choice) {
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
			gen.unusable(g, s, op, codeJob, at, reason.Error(), func(of *config.Settings) bool { return of.Job == set.Job })
		}
	}
	return g.guessedJob
}

// settleJobs removes from the jobs of plans the requests that their documents may not name, and marks the plans that report on
// jobs.
//
// A document that describes jobs makes the gateway send requests that no caller has made. It may name only requests that the
// caller could make itself: an operation that is a tool, without a condition, elicitation or consent; the caller's scopes are
// checked when the request is sent. A status request must be safe, and a safe call has no unsafe cancellation or answer.
func (gen *generation) settleJobs(g *Gateway, d *deployment, plans map[*openapi.Operation]*Plan) {
	sources := map[string]*source.Source{}
	for _, s := range d.apis.Sources {
		sources[s.Name] = s
	}
	for _, t := range gen.catalog.All() {
		g.admission.pace.Step()
		p := plans[t.Operation]
		j := p.job
		if !j.HasRequests() {
			continue
		}
		type fault struct {
			key string
			err error
		}
		var wrong []fault
		for _, use := range usesOf(j) {
			r := *use.at
			var err error
			switch {
			case r == nil:
				continue
			case r.Operation != nil && gen.unapproved[r.Operation] != "":
				err = errors.New(gen.unapproved[r.Operation] + ", and is held back until it is approved")
			case r.Named:
				continue
			default:
				err = p.overreach(r, use.look, plans)
			}
			switch {
			case err == nil:
			case r.Linked:
				*use.at = nil
			default:
				wrong = append(wrong, fault{use.key, err})
			}
		}
		if len(wrong) > 0 {
			for _, one := range wrong {
				gen.unusable(g, sources[p.Tool.API], p.Operation, codeJob, "job."+one.key, one.err.Error(), func(*config.Settings) bool { return false })
			}
			p.job = g.guessedJob
			continue
		}
		for _, r := range []*job.Request{j.Status, j.Result} {
			if r != nil && r.Operation != nil && plans[r.Operation] != nil && httpmethod.IsSafe(r.Method) {
				plans[r.Operation].polled = j
			}
		}
	}
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
		if r.Method != http.MethodGet && p.safe {
			return errors.New("the call changes nothing, and this may")
		}
		return nil
	}
	name := fmt.Sprintf("%s %s", r.Operation.Method, r.Operation.Path)
	switch q := plans[r.Operation]; {
	case q == nil || q.Tool.Hidden:
		return fmt.Errorf("%s is no tool, and only a rule can name it", name)
	case look && !q.safe:
		return fmt.Errorf("%s may change something, and a look must not", name)
	case !q.safe && p.safe:
		return fmt.Errorf("%s may change something, and the call itself does not", name)
	case q.condition != nil:
		return fmt.Errorf("a rule has a condition for %s, so only a rule can name it", name)
	case q.asksUser():
		return fmt.Errorf("%s asks the user, so only a rule can name it", name)
	}
	return nil
}
