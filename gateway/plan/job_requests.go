package plan

import (
	"errors"
	"fmt"
	"net/http"

	"drawbridge/config"
	"drawbridge/gateway/job"
	"drawbridge/openapi"
	"drawbridge/openapi/httpmethod"
)

// checkedJobs are the jobs of all tools without the requests that their documents may not name.
type checkedJobs struct {
	jobs map[*openapi.Operation]*job.Definition
	// polled maps the operations whose responses report on jobs to those jobs.
	polled map[*openapi.Operation]*job.Definition
}

// checkJobs checks the requests of the tools' jobs. heldBack has the reasons why operations are held back.
//
// A document that describes jobs makes the gateway send requests that no caller has made. It may name only requests that the
// caller could make itself: an operation that is a tool, without a condition, elicitation or consent; the caller's scopes are
// checked when the request is sent. A status request must be safe, and a safe call has no unsafe cancellation or answer.
func checkJobs(o *Options, tools drafts, heldBack map[*openapi.Operation]string, rejected *rejections) checkedJobs {
	checked := checkedJobs{jobs: map[*openapi.Operation]*job.Definition{}, polled: map[*openapi.Operation]*job.Definition{}}
	for _, t := range tools.all {
		o.Pace.Step()
		checked.jobs[t.operation] = t.job
		if !t.job.HasRequests() {
			continue
		}
		j, wrong := checkJob(t, tools, heldBack)
		if len(wrong) > 0 {
			r := rejected.of(t.definition.API, t.operation)
			for _, one := range wrong {
				r.reject(codeJob, "job."+one.key, one.err.Error(), func(*config.Settings) bool { return false })
			}
			checked.jobs[t.operation] = o.GuessedJob
			continue
		}
		checked.jobs[t.operation] = j
		for _, r := range []*job.Request{j.Status, j.Result} {
			if r != nil && r.Operation != nil && tools.byOperation[r.Operation] != nil && httpmethod.IsSafe(r.Method) {
				checked.polled[r.Operation] = j
			}
		}
	}
	return checked
}

// jobFault is a request that may not be named, by its key in the settings of a job.
type jobFault struct {
	key string
	err error
}

// checkJob returns the job of a tool without the requests that links of the document may not name, and the other requests
// that it may not name.
func checkJob(t *draft, tools drafts, heldBack map[*openapi.Operation]string) (j *job.Definition, wrong []jobFault) {
	own := *t.job
	if own.Questions != nil {
		questions := *own.Questions
		own.Questions = &questions
	}
	for _, use := range usesOf(&own) {
		r := *use.at
		var err error
		switch {
		case r == nil:
			continue
		case r.Operation != nil && heldBack[r.Operation] != "":
			err = errors.New(heldBack[r.Operation] + ", and is held back until it is approved")
		case r.Named:
			continue
		default:
			err = overreach(t, r, use.look, tools)
		}
		switch {
		case err == nil:
		case r.Linked:
			*use.at = nil
		default:
			wrong = append(wrong, jobFault{use.key, err})
		}
	}
	return &own, wrong
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

// overreach returns the reason why the job of a tool may not name a request, or nil if it may.
func overreach(t *draft, r *job.Request, look bool, tools drafts) error {
	if r.Operation == nil {
		if r.Method != http.MethodGet && t.safe {
			return errors.New("the call changes nothing, and this may")
		}
		return nil
	}
	name := fmt.Sprintf("%s %s", r.Operation.Method, r.Operation.Path)
	switch q := tools.byOperation[r.Operation]; {
	case q == nil || q.definition.Hidden:
		return fmt.Errorf("%s is no tool, and only a rule can name it", name)
	case look && !q.safe:
		return fmt.Errorf("%s may change something, and a look must not", name)
	case !q.safe && t.safe:
		return fmt.Errorf("%s may change something, and the call itself does not", name)
	case q.condition != nil:
		return fmt.Errorf("a rule has a condition for %s, so only a rule can name it", name)
	case q.asksUser():
		return fmt.Errorf("%s asks the user, so only a rule can name it", name)
	}
	return nil
}
