package gateway

import (
	"errors"
	"fmt"
	"net/http"

	"drawbridge/config"
	"drawbridge/openapi"
	"drawbridge/openapi/httpmethod"
)

// What a document says of jobs makes the gateway send requests that nobody has asked for. It may name what the caller could call
// himself, and no more: an operation that is a tool, without a condition, a question or consent; his scopes are looked at when
// it is sent. A look changes nothing, and a call that changes nothing has no cancellation or answer that does.

// settleJobs takes out of the jobs of plans what their documents may not say, and marks the plans that tell of jobs.
func (gen *generation) settleJobs(g *Gateway, d *deployment, plans map[*openapi.Operation]*Plan) {
	sources := map[string]*source{}
	for _, s := range d.sources {
		sources[s.name] = s
	}
	for _, t := range gen.catalog.All() {
		g.room.pace.Step()
		p := plans[t.Operation]
		j := p.job
		if !j.asks() {
			continue
		}
		var wrong []*jobError
		for _, use := range j.uses() {
			r := *use.at
			var err error
			switch {
			case r == nil:
				continue
			case r.operation != nil && gen.unapproved[r.operation] != "":
				err = errors.New(gen.unapproved[r.operation] + ", and is held back until it is approved")
			case r.named:
				continue
			default:
				err = p.overreach(r, use.look, plans)
			}
			switch {
			case err == nil:
			case r.linked:
				*use.at = nil
			default:
				wrong = append(wrong, &jobError{use.key, err})
			}
		}
		if len(wrong) > 0 {
			for _, one := range wrong {
				gen.unusable(g, sources[p.Tool.API], p.Operation, codeJob, "job."+one.key, one.err.Error(), func(*config.Settings) bool { return false })
			}
			p.job = g.guessed
			continue
		}
		for _, r := range []*jobRequest{j.status, j.result} {
			if r != nil && r.operation != nil && plans[r.operation] != nil && httpmethod.IsSafe(r.method) {
				plans[r.operation].polled = j
			}
		}
	}
}

// jobUse is one place of a job's settings that has a request.
type jobUse struct {
	key  string
	at   **jobRequest
	look bool // it must change nothing
}

func (j *job) uses() []jobUse {
	all := []jobUse{{"status", &j.status, true}, {"result", &j.result, true}, {"cancel", &j.cancel, false}}
	if j.questions != nil {
		all = append(all, jobUse{"questions.answer", &j.questions.answer, false})
	}
	return all
}

// asks tells whether there are requests of its own.
func (j *job) asks() bool {
	return j.status != nil || j.result != nil || j.cancel != nil || j.questions != nil
}

// overreach tells why a document may not name a request; nil: it may.
func (p *Plan) overreach(r *jobRequest, look bool, plans map[*openapi.Operation]*Plan) error {
	if r.operation == nil {
		if r.method != http.MethodGet && p.safe {
			return errors.New("the call changes nothing, and this may")
		}
		return nil
	}
	name := fmt.Sprintf("%s %s", r.operation.Method, r.operation.Path)
	switch q := plans[r.operation]; {
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
