package job

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"drawbridge/config"
	"drawbridge/openapi"
	"drawbridge/openapi/httpmethod"
	"drawbridge/openapi/jsonscan"
)

// Definition describes the jobs that calls of one operation begin: how to recognize one, where its state and result are, and which
// requests there are. It is immutable once its constructor has returned.
type Definition struct {
	// Declared reports whether the configuration describes the jobs. Otherwise only a 202 response begins one.
	Declared bool
	// Never reports whether no response begins a job.
	Never bool
	// Status, Result and Cancel are the requests that ask for the state, fetch the result and cancel; nil for one that is not described.
	// Without Status, the state is asked for at the job's URL.
	Status, Result, Cancel *Request
	// HasState reports whether the configuration names the member with the state, or its words.
	HasState bool
	// Interval is the minimum time between two polls, Wait the time that a call waits for the end, TTL the lifetime of a task.
	Interval, Wait, TTL time.Duration
	// RequiresTasks reports whether clients without the tasks extension are refused.
	RequiresTasks bool
	// Questions describes how jobs ask the user; nil if they don't.
	Questions *Questions
	// Callback describes how the service reports the end by itself; nil if it doesn't.
	Callback *Callback
	// FromDocument reports whether links or an extension of the document describe the jobs.
	FromDocument bool
	// Anywhere reports whether the URLs of a job may be anywhere at the origin, not only below the base URL: the operator's rule names
	// the members that have them.
	Anywhere bool

	location               string   // JSON Pointer to the job's URL in the response; "" if it is in a header
	states                 []string // JSON Pointers to the word for the state, the preferred one first; likewise those below
	progress, total        []string
	message                []string
	output, resultLocation []string
	words                  map[string]State
}

// Error is a fault in the settings of a job.
type Error struct {
	Key string // the path of the key below the job, or below the key of one of its requests
	err error
}

// Error returns the key and the reason.
func (e *Error) Error() string { return e.Key + ": " + e.err.Error() }

// Unwrap returns the reason.
func (e *Error) Unwrap() error { return e.err }

// Guess returns the definition of jobs that nothing describes: a 202 response that names a status URL begins one.
func Guess() *Definition {
	return undeclared(Links{}, false)
}

// FromLinks returns the definition of jobs that links of the document describe.
func FromLinks(links Links) *Definition { return undeclared(links, true) }

// undeclared returns the definition of jobs without settings, which have no faults.
func undeclared(links Links, fromDocument bool) *Definition {
	d, err := New(nil, nil, links, fromDocument, nil)
	if err != nil {
		panic(err)
	}
	return d
}

// New compiles the settings that a rule or the document has for the jobs of an operation; c is nil without settings. find finds the
// operations that the settings name. The errors are [*Error]s, joined.
func New(c *config.Job, op *openapi.Operation, links Links, fromDocument bool, find Finder) (*Definition, error) {
	d := &Definition{Declared: c != nil, words: commonWords(), FromDocument: fromDocument}
	if c == nil {
		c = config.DefaultJob()
	}
	d.Interval, d.Wait, d.TTL = time.Duration(c.Interval), time.Duration(c.Wait), time.Duration(c.TTL)
	d.RequiresTasks = c.WithoutTasks == config.WithoutTasksRefuse
	d.setPlaces(c)
	d.setWords(c)
	return d, errors.Join(d.setRequests(c, links, find), d.setQuestions(c, find), d.setCallback(c, op))
}

// setPlaces sets the members of responses that have the URL, the state and the result of a job: those of the settings, else the usual
// ones.
func (d *Definition) setPlaces(c *config.Job) {
	places := func(own config.Pointer, usual ...string) []string {
		if own != "" {
			return []string{own.String()}
		}
		return usual
	}
	d.location, d.Anywhere = c.Location.String(), !d.FromDocument && (c.Location != "" || c.ResultLocation != "")
	d.states = places(c.State, "/status", "/state", "/properties/provisioningState", "/done")
	d.progress = places(c.Progress, "/progress", "/percentComplete", "/percent_complete", "/percent")
	d.total = places(c.Total, "/total")
	d.message = places(c.Message, "/message", "/statusMessage", "/status_message", "/detail", "/error/message")
	d.output = places(c.Output, "/result", "/response", "/output")
	d.resultLocation = places(c.ResultLocation, "/resourceLocation", "/resultUrl", "/result_url")
}

// setWords adds the service's own words for states.
func (d *Definition) setWords(c *config.Job) {
	d.HasState = c.State != ""
	for state, words := range map[State][]string{
		Working: c.States.Working, Succeeded: c.States.Succeeded, Failed: c.States.Failed, Cancelled: c.States.Cancelled,
	} {
		for _, word := range words {
			d.words[config.PlainWord(word)], d.HasState = state, true
		}
	}
}

// setRequests sets the requests about a job: those of the settings, else those of the document's links.
func (d *Definition) setRequests(c *config.Job, links Links, find Finder) error {
	var errs []error
	request := func(key string, o *config.JobOperation) *Request {
		if o == nil {
			return nil
		}
		r, err := newRequest(o, find)
		if err == nil && key != "cancel" && !httpmethod.IsSafe(r.Method) {
			err = fmt.Errorf("operation %q is a %s: a look changes nothing", o.Operation, r.Method)
		}
		if r != nil {
			r.Named = !d.FromDocument
		}
		if err != nil {
			errs = append(errs, &Error{key, err})
		}
		return r
	}
	d.Status, d.Result, d.Cancel = request("status", c.Status), request("result", c.Result), request("cancel", c.Cancel)
	if c.Status == nil && c.Location == "" {
		d.Status = links.Status
	}
	if c.Links && c.Result == nil {
		d.Result = links.Result
	}
	if c.Links && c.Cancel == nil {
		d.Cancel = links.Cancel
	}
	return errors.Join(errs...)
}

func (d *Definition) setQuestions(c *config.Job, find Finder) (err error) {
	if c.Questions == nil {
		return nil
	}
	if d.Questions, err = newQuestions(c.Questions, find); err != nil {
		return &Error{"questions.answer", err}
	}
	d.Questions.Answer.Named = !d.FromDocument
	return nil
}

func (d *Definition) setCallback(c *config.Job, op *openapi.Operation) (err error) {
	if c.Callback == nil {
		return nil
	}
	if d.Callback, err = newCallback(c.Callback, op); err != nil {
		return &Error{"callback", err}
	}
	return nil
}

// MayBegin reports whether an answer of this status may have begun a job.
func (d *Definition) MayBegin(status int) bool {
	return status == http.StatusAccepted && (d == nil || !d.Never) || d != nil && d.Declared && status < 300
}

// HasRequests reports whether there are requests about a job besides a GET of its URL.
func (d *Definition) HasRequests() bool {
	return d.Status != nil || d.Result != nil || d.Cancel != nil || d.Questions != nil
}

// Names reports whether the operator's rule names an operation as the one that returns the state or the result.
func (d *Definition) Names(op *openapi.Operation) bool {
	for _, r := range []*Request{d.Status, d.Result} {
		if r != nil && r.Named && r.Operation == op {
			return true
		}
	}
	return false
}

// CanCancel reports whether it is known how a job is stopped.
func (d *Definition) CanCancel(h *Handle) bool {
	return d.Cancel != nil && (h.Cancel != nil || d.Cancel.Operation == nil && h.URL != nil)
}

// Pause returns the time until the next poll. asked is the time that the service asks for (Retry-After), or 0.
func (d *Definition) Pause(asked time.Duration) time.Duration { return max(asked, d.Interval) }

// HasOutput reports whether a body contains the result of a job, or its URL.
func (d *Definition) HasOutput(body []byte) bool {
	return d.Output(body) != nil || firstAt(body, d.resultLocation) != nil
}

// Output returns the result in a body that says that the job has succeeded, or nil.
func (d *Definition) Output(body []byte) []byte { return firstAt(body, d.output) }

// firstAt returns the first value that is there and not null, or nil.
func firstAt(body []byte, pointers []string) []byte {
	if body == nil {
		return nil
	}
	for _, pointer := range pointers {
		if v := jsonscan.At(body, pointer); v != nil && jsonscan.KindOf(v) != jsonscan.Null {
			return v
		}
	}
	return nil
}
