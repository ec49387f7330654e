package gateway

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"drawbridge/auth/credential"
	"drawbridge/config"
	"drawbridge/openapi"
	"drawbridge/openapi/httpmethod"
)

// job is what the gateway knows of the jobs that calls of a plan begin. It is immutable.
type job struct {
	// declared tells that the configuration says something of them. Else what an answer of 202 looks like is all there is.
	declared               bool
	none                   bool        // there are none, whatever answers look like
	location               string      // where the answer names the job's URL; "": in its headers
	status, result, cancel *jobRequest // nil: there is none of its own
	states                 []string    // where the word for the state is looked for
	stated                 bool        // the configuration says where it is, or which words there are
	words                  map[string]jobState
	progress, total        []string
	message                []string
	output, resultLocation []string
	interval, wait, ttl    time.Duration
	refuse                 bool                              // without tasks
	questions              *jobQuestions                     // nil: they ask nothing
	callback               *jobCallback                      // nil: nobody calls
	jitter                 func(time.Duration) time.Duration // of the time between two looks
	foreign                bool                              // a document's extension says all of that
	anywhere               bool                              // the operator's rule says where URLs stand, so they need not be below the base
}

// jobRequest is a request about a job.
type jobRequest struct {
	operation *openapi.Operation // nil: method, for the job's URL
	method    string
	bind      map[string]openapi.Expression
	choice    *credential.Choice // what authenticates it; of one with an operation
	linked    bool               // a link of the document, which is no promise
	named     bool               // the operator's rule has it
}

// jobState is where a job stands.
type jobState uint8

const (
	jobUnsaid jobState = iota // nothing is said of it
	jobWorking
	jobSucceeded
	jobFailed
	jobCancelled
)

// jobWords are the words for states that services have in common, as [config.PlainWord] gives them: those of Azure and
// Google, of queues. "active" and "new" are not among them: things that are made by a job have these states for ever.
func jobWords() map[string]jobState {
	words := map[string]jobState{}
	for state, list := range map[jobState][]string{
		jobWorking: {
			"accepted", "creating", "deleting", "executing", "false", "inprogress", "notstarted", "pending", "processing", "provisioning",
			"queued", "running", "scheduled", "started", "starting", "submitted", "updating", "waiting", "working",
		},
		jobSucceeded: {"complete", "completed", "done", "finished", "ok", "ready", "succeeded", "success", "successful", "true"},
		jobFailed:    {"aborted", "error", "errored", "expired", "failed", "failure", "rejected", "timedout", "timeout"},
		jobCancelled: {"canceled", "cancelled", "revoked", "stopped", "terminated"},
	} {
		for _, word := range list {
			words[word] = state
		}
	}
	return words
}

// newJob compiles what a rule says of jobs; nil: nothing. find finds the operations that it names.
// The error names the key below job and what is wrong with its value.
// foreign tells that a document says it.
func newJob(c *config.Job, op *openapi.Operation, links jobLinks, foreign bool, jitter func(time.Duration) time.Duration, find finder) (*job, error) {
	j := &job{declared: c != nil, words: jobWords(), foreign: foreign}
	if c == nil {
		c = config.DefaultJob()
	}
	var errs []error
	use := func(key string, o *config.JobOperation) *jobRequest {
		if o == nil {
			return nil
		}
		r, err := newJobRequest(o, find)
		if err == nil && key != "cancel" && !httpmethod.IsSafe(r.method) {
			err = fmt.Errorf("operation %q is a %s: a look changes nothing", o.Operation, r.method)
		}
		if r != nil {
			r.named = !foreign
		}
		if err != nil {
			errs = append(errs, &jobError{key, err})
		}
		return r
	}
	j.location, j.anywhere = c.Location.String(), !foreign && (c.Location != "" || c.ResultLocation != "")
	j.status, j.result, j.cancel = use("status", c.Status), use("result", c.Result), use("cancel", c.Cancel)
	if c.Status == nil && c.Location == "" {
		j.status = links.status
	}
	if c.Links && c.Result == nil {
		j.result = links.result
	}
	if c.Links && c.Cancel == nil {
		j.cancel = links.cancel
	}
	j.stated = c.State != ""
	for state, words := range map[jobState][]string{
		jobWorking: c.States.Working, jobSucceeded: c.States.Succeeded, jobFailed: c.States.Failed, jobCancelled: c.States.Cancelled,
	} {
		for _, word := range words {
			j.words[config.PlainWord(word)], j.stated = state, true
		}
	}
	places := func(own config.Pointer, others ...string) []string {
		if own != "" {
			return []string{own.String()}
		}
		return others
	}
	j.states = places(c.State, "/status", "/state", "/properties/provisioningState", "/done")
	j.progress = places(c.Progress, "/progress", "/percentComplete", "/percent_complete", "/percent")
	j.total = places(c.Total, "/total")
	j.message = places(c.Message, "/message", "/statusMessage", "/status_message", "/detail", "/error/message")
	j.output = places(c.Output, "/result", "/response", "/output")
	j.resultLocation = places(c.ResultLocation, "/resourceLocation", "/resultUrl", "/result_url")
	j.jitter = jitter
	j.interval, j.wait, j.ttl = time.Duration(c.Interval), time.Duration(c.Wait), time.Duration(c.TTL)
	j.refuse = c.WithoutTasks == config.WithoutTasksRefuse
	if c.Questions != nil {
		var err error
		if j.questions, err = newJobQuestions(c.Questions, find); err != nil {
			errs = append(errs, &jobError{"questions.answer", err})
		} else {
			j.questions.answer.named = !foreign
		}
	}
	if c.Callback != nil {
		var err error
		if j.callback, err = newJobCallback(c.Callback, op); err != nil {
			errs = append(errs, &jobError{"callback", err})
		}
	}
	return j, errors.Join(errs...)
}

// jobError is what is wrong with a value of a job's settings; key is the path from the job, or from the request that it is of.
type jobError struct {
	key string
	err error
}

func (e *jobError) Error() string { return e.key + ": " + e.err.Error() }
func (e *jobError) Unwrap() error { return e.err }

// finder finds an operation of the API by its operationId, and what authenticates it.
type finder func(id string) (*openapi.Operation, *credential.Choice)

// newJobRequest compiles a request; own are arguments that it gets besides those that it binds.
func newJobRequest(o *config.JobOperation, find finder, own ...string) (*jobRequest, error) {
	if o.Operation == "" {
		return &jobRequest{method: cmp.Or(string(o.Method), http.MethodGet)}, nil
	}
	op, choice := find(o.Operation)
	if op == nil {
		return nil, fmt.Errorf("the document has no operation %q", o.Operation)
	}
	r := &jobRequest{operation: op, choice: choice, method: op.Method, bind: map[string]openapi.Expression{}}
	if r.choice == nil {
		r.choice = &credential.Choice{} // of no set: what the API's default is, whatever the call that began the job has
	}
	var errs []error
	for _, argument := range own {
		if !op.Takes(argument) {
			errs = append(errs, fmt.Errorf("operation %q has no argument %q", o.Operation, argument))
		}
	}
	for argument, text := range o.Bind {
		if !op.Takes(argument) {
			errs = append(errs, &jobError{"bind." + argument, fmt.Errorf("operation %q has no argument %q", o.Operation, argument)})
			continue
		}
		if text != "" && text[0] == '/' {
			text = "$response.body#" + text
		}
		e, err := openapi.ParseExpression(text)
		if err != nil {
			errs = append(errs, &jobError{"bind." + argument, err})
		}
		r.bind[argument] = e
	}
	for _, argument := range op.Required() {
		if _, bound := r.bind[argument]; !bound && !slices.Contains(own, argument) {
			errs = append(errs, &jobError{"bind", fmt.Errorf("operation %q needs the argument %q", o.Operation, argument)})
		}
	}
	slices.SortFunc(errs, func(a, b error) int { return cmp.Compare(a.Error(), b.Error()) })
	return r, errors.Join(errs...)
}

// ownJob returns the place of the operator's rule that says what jobs are; "": a document does.
func (gen *generation) ownJob(c *config.Job) string {
	return gen.config.RuleOf(func(of *config.Settings) bool { return of.Job == c })
}

// codeJob is the code of what is said of jobs and can't be used, as that of the document's problems.
const codeJob = "job"

// jobOf returns what is known of the jobs of an operation. What is said and can't be used is reported with its place, and
// counts as not said.
func (gen *generation) jobOf(g *Gateway, s *source, op *openapi.Operation, set config.Settings) *job {
	choice := func(op *openapi.Operation) *credential.Choice { return s.loaded.choices.of[op] }
	if set.Job.Off() {
		j := *g.guessed // of which calls that have begun one before know enough
		j.none = true
		return &j
	}
	if set.Job == nil {
		if !onlyAccepted(op) {
			return g.guessed
		}
		j, err := newJob(nil, op, linksOf(op, s.loaded.api.Operations, choice), true, g.jitter, nil)
		if err != nil { // nothing is said that could be wrong
			return g.guessed
		}
		return j
	}
	j, err := newJob(set.Job, op, linksOf(op, s.loaded.api.Operations, choice), gen.ownJob(set.Job) == "", g.jitter, func(id string) (*openapi.Operation, *credential.Choice) {
		for _, other := range s.loaded.api.Operations {
			if other.ID == id {
				return other, choice(other)
			}
		}
		return nil, nil
	})
	if err == nil {
		return j
	}
	for _, one := range single(err) {
		var wrong *jobError
		if !errors.As(one, &wrong) {
			wrong = &jobError{"", one}
		}
		for _, reason := range single(wrong.err) {
			key, below := strings.TrimSuffix("job."+wrong.key, "."), (*jobError)(nil)
			if errors.As(reason, &below) {
				key, reason = key+"."+below.key, below.err
			}
			gen.unusable(g, s, op, codeJob, key, reason.Error(), func(of *config.Settings) bool { return of.Job == set.Job })
		}
	}
	return g.guessed
}
