package gateway

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"net/url"
	"sync"
	"time"

	"drawbridge/gateway/admission"
	"drawbridge/gateway/call"
	"drawbridge/gateway/job"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/plan"
	"drawbridge/gateway/state"
	"drawbridge/gateway/telemetry"
)

const (
	// taskLabel is the version of the payload of task IDs.
	taskLabel = "drawbridge task 1"
	// maxTaskID is the maximum size of a task ID, which clients send in a header.
	maxTaskID = 8 << 10
	// maxTaskTarget is the maximum size in bytes of the URL that started a job, as stored in the task's ID.
	maxTaskTarget = 512
	// lockPause is the delay between the first two attempts to lock a task, and maxLockPause the maximum delay.
	lockPause    = 5 * time.Millisecond
	maxLockPause = 100 * time.Millisecond
	// maxKeptResult is the maximum size in bytes of a stored result. A larger one is fetched again for each request.
	maxKeptResult = 256 << 10
)

// tasks are the jobs of clients with the extension io.modelcontextprotocol/tasks. A task's ID contains its state, so that any
// replica can report its status by polling the service (ADR 0011).
type tasks struct {
	taskOptions
	handles   *mcp.SealedHandles
	callbacks *mcp.SealedHandles   // tokens in callback URLs
	unsigned  telemetry.LogSampler // samples the log lines of rejected service webhooks
	followers *jobFollowers        // follow jobs whose callers asked for a webhook

	mu      sync.Mutex
	watched map[string]*watchedTask
	hearing map[string]int           // number of subscribed tasks per caller
	waiting map[string]chan struct{} // calls that wait for a callback
}

// taskOptions are everything that tasks need of the process.
type taskOptions struct {
	// records holds the records of tasks under unguessable keys. A lost record is rebuilt by polling the service, except for
	// given answers and requested cancellations.
	records state.Records
	// locks are held on tasks that are being polled: one poll serves all who request the status.
	locks state.Locks
	// publish tells other replicas that a task has changed.
	publish   func(ctx context.Context, key string)
	calls     *call.Runner
	log       *slog.Logger
	metrics   *telemetry.Metrics
	responses *admission.ResponseBudget
	baseURL   func() string                                    // of the gateway, as services reach it
	endpoint  func(name string) *call.Endpoint                 // in use under a name; nil if there is none
	broker    func(endpoint string) *mcp.Broker                // of the clients of an endpoint; nil if there is none
	keep      func(ctx context.Context, what string, f func()) // runs f again after a panic
	survive   func(what string, step func()) (panicked bool)   // recovers from a panic
}

func newTasks(keys [][]byte, o taskOptions) (*tasks, error) {
	handles, err := mcp.NewSealedHandles(keys, taskLabel)
	if err != nil {
		return nil, err
	}
	callbacks, err := mcp.NewSealedHandles(keys, callbackLabel)
	if err != nil {
		return nil, err
	}
	return &tasks{
		taskOptions: o, handles: handles, callbacks: callbacks, followers: newJobFollowers(),
		watched: map[string]*watchedTask{}, hearing: map[string]int{}, waiting: map[string]chan struct{}{},
	}, nil
}

// taskPayload is the payload of a task's ID, which only the gateway can read.
type taskPayload struct {
	Key     string          `json:"k"` // key of the task in the store
	Tool    string          `json:"t"`
	URL     string          `json:"u,omitempty"`
	Result  string          `json:"r,omitempty"`
	Status  json.RawMessage `json:"s,omitempty"`
	Fetch   json.RawMessage `json:"f,omitempty"`
	Cancel  json.RawMessage `json:"c,omitempty"`
	Answer  json.RawMessage `json:"a,omitempty"`
	Plain   bool            `json:"p,omitempty"`
	Made    string          `json:"m,omitempty"` // the called URL, if its responses are cached
	Created int64           `json:"b"`           // in milliseconds
	// Arguments are those of the call if a condition must be evaluated again for each status request.
	Arguments json.RawMessage `json:"x,omitempty"`
}

// taskRecord is the stored state of a task: the fields that tasks/get returns, and when to poll next.
type taskRecord struct {
	Status    mcp.TaskStatus `json:"s"`
	Message   string         `json:"m,omitempty"`
	Updated   time.Time      `json:"u"`
	Next      time.Time      `json:"n"` // no poll before
	Questions []job.Question `json:"q,omitempty"`
	Answered  []string       `json:"a,omitempty"` // keys of answered questions
	// Refused maps keys of questions to what was wrong with the last answer.
	Refused map[string]string `json:"e,omitempty"`
	Called  bool              `json:"c,omitempty"` // called off: the client has requested cancellation
	Result  []byte            `json:"r,omitempty"` // of a completed task; nil if it is too large to be stored
	Failure string            `json:"f,omitempty"` // why the task failed
}

// final reports whether a task has ended.
func (r *taskRecord) final() bool {
	return r.Status == mcp.TaskCompleted || r.Status == mcp.TaskFailed || r.Status == mcp.TaskCancelled
}

// large reports whether a task has a result that is too large to be stored.
func (r *taskRecord) large() bool { return r.Status == mcp.TaskCompleted && r.Result == nil }

// task is a task in the context of one request.
type task struct {
	*tasks
	plan    *plan.Plan
	call    *call.Call // queries the job on behalf of the caller of the request; nil if the job has just started
	id      string
	payload taskPayload
	handle  *job.Handle
	owner   string
	refused *mcp.Error // if the status request failed because the caller's token was not exchanged; else nil
}

// newTask makes a task of the job that a call has started; the task is nil if the job's URL is too long for an ID.
func (s *tasks) newTask(ctx context.Context, j *call.StartedJob) (*task, *taskRecord, error) {
	now, h := time.Now(), j.Handle
	p := taskPayload{
		Key: cmp.Or(j.Key, rand.Text()), Tool: j.Plan.Tool.Name, Status: h.Status, Fetch: h.Fetch, Cancel: h.Cancel, Answer: h.Answer,
		Plain: h.Plain, Created: now.UnixMilli(),
	}
	if h.URL != nil {
		p.URL = h.URL.String()
	}
	if h.Result != nil {
		p.Result = h.Result.String()
	}
	if h.Target != nil {
		if p.Made = h.Target.String(); len(p.Made) > maxTaskTarget {
			p.Made = "" // keeps the ID short
		}
	}
	if j.Plan.Condition != nil {
		p.Arguments = j.Arguments
	}
	payload, err := json.Marshal(p)
	if err != nil {
		return nil, nil, err
	}
	// Handles expire at whole seconds; the extra second guarantees the task's full TTL. An ID is bound to the caller and the
	// endpoint.
	id := s.handles.Seal(payload, now.Add(j.Plan.Job.TTL+time.Second), j.Request.Principal, j.Endpoint.Name)
	if len(id) > maxTaskID {
		return nil, nil, nil
	}
	t := &task{tasks: s, plan: j.Plan, id: id, payload: p, handle: h, owner: j.Request.Principal}
	rec := &taskRecord{Status: mcp.TaskWorking, Message: j.Report.Text(), Updated: now, Next: now.Add(j.Plan.Job.Pause(j.Retry))}
	return t, rec, t.save(ctx, rec)
}

// of returns the task in the protocol's form.
func (t *task) of(rec *taskRecord) mcp.Task {
	m := mcp.Task{
		ID: t.id, Status: rec.Status, Message: rec.Message, Created: time.UnixMilli(t.payload.Created), Updated: rec.Updated,
		TTL: t.plan.Job.TTL, Poll: max(time.Millisecond, t.plan.Job.Interval, time.Until(rec.Next).Truncate(time.Millisecond)), Result: rec.Result,
	}
	if rec.Status == mcp.TaskFailed {
		m.Err = &mcp.Error{Code: mcp.CodeInternal, Message: rec.Failure}
	}
	for i := range rec.Questions {
		q := &rec.Questions[i]
		m.InputRequests = append(m.InputRequests, q.Elicit(t.plan.Title()+" of "+t.plan.Tool.API, rec.Refused[q.Key]))
	}
	return m
}

// open returns the task that a request to an endpoint names. The error is for the client: a task that belongs to another
// caller, has expired or never existed is unknown. The call of the task is not started.
func (s *tasks) open(ctx context.Context, e *call.Endpoint, req *mcp.Request, reply *mcp.Reply) (*task, error) {
	unknown := mcp.InvalidParams("unknown task: it has expired, or is not one of this caller")
	if len(req.TaskID) > maxTaskID {
		return nil, unknown
	}
	payload, _, err := s.handles.Open(req.TaskID, time.Now(), req.Principal, e.Name)
	if err != nil {
		return nil, unknown
	}
	t := &task{tasks: s, id: req.TaskID, owner: req.Principal}
	if err := json.Unmarshal(payload, &t.payload); err != nil {
		return nil, unknown
	}
	p := e.Plans[t.payload.Tool]
	if p == nil || p.Base == nil {
		return nil, unknown // its tool is gone
	}
	if t.handle = t.payload.handle(p); t.handle == nil {
		return nil, unknown // the service's origin has changed, and its credentials must not go to the old one
	}
	t.plan = p
	t.call = s.calls.NewJobCall(ctx, e, p, t.payload.Key, req, reply)
	return t, t.call.AuthorizeJob(ctx, t.payload.Arguments)
}

// handle returns the handle of the task's job, as far as it may still be polled.
func (p *taskPayload) handle(plan *plan.Plan) *job.Handle {
	h := &job.Handle{Status: p.Status, Fetch: p.Fetch, Cancel: p.Cancel, Answer: p.Answer, Plain: p.Plain, Origin: plan.Base}
	for _, one := range []struct {
		text string
		at   **url.URL
	}{{p.URL, &h.URL}, {p.Result, &h.Result}, {p.Made, &h.Target}} {
		if one.text == "" {
			continue
		}
		if *one.at = h.Resolve(one.text); *one.at == nil {
			return nil
		}
	}
	h.Base = plan.Job.BaseOf(plan.Base)
	if r := plan.Job.Status; r == nil || r.Operation == nil {
		h.Status = nil
	}
	if r := plan.Job.Status; (r == nil || r.Operation == nil || h.Status == nil) && h.URL == nil && plan.Job.Callback == nil {
		return nil // the rule has changed
	}
	return h
}

// load returns the record of the task, or nil if there is none.
func (t *task) load(ctx context.Context) (*taskRecord, error) {
	value, ok, err := t.records.Get(ctx, t.payload.Key)
	if err != nil || !ok {
		return nil, err
	}
	rec := &taskRecord{}
	if err := json.Unmarshal(value, rec); err != nil {
		return nil, err
	}
	if !t.asks() {
		rec.ask(nil)
	}
	return rec, nil
}

// asks reports whether questions can be answered: the rule must have had questions when the task began, and still have them.
func (t *task) asks() bool { return t.plan.Job.Questions != nil && t.handle.Answer != nil }

// ask records the questions of the job.
func (r *taskRecord) ask(questions []job.Question) {
	r.Questions = questions
	switch {
	case len(questions) > 0:
		r.Status = mcp.TaskInputRequired
	case r.Status == mcp.TaskInputRequired:
		r.Status = mcp.TaskWorking
	}
}

// lock locks the task against concurrent polls and changes and returns its record. release must be called.
func (t *task) lock(ctx context.Context) (rec *taskRecord, release func(), err error) {
	pause, ok := lockPause, false
	for release, ok = t.tryLock(ctx); !ok; release, ok = t.tryLock(ctx) {
		select {
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		case <-time.After(pause):
			pause = min(2*pause, maxLockPause)
		}
	}
	if rec, err = t.load(ctx); err != nil {
		release()
		return nil, nil, err
	}
	if rec == nil {
		rec = &taskRecord{Status: mcp.TaskWorking, Updated: time.UnixMilli(t.payload.Created)}
	}
	return rec, release, nil
}

// save stores the record of the task and notifies its subscribers.
func (t *task) save(ctx context.Context, rec *taskRecord) error {
	stored := *rec
	if len(stored.Result) > maxKeptResult {
		stored.Result = nil
	}
	value, err := json.Marshal(&stored)
	if err != nil {
		return err
	}
	until := time.UnixMilli(t.payload.Created).Add(t.plan.Job.TTL + time.Second)
	put := t.records.Put
	if rec.final() {
		put = t.records.Settle
	}
	return put(ctx, t.payload.Key, t.owner, value, until)
}
