package task

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
	"drawbridge/gateway/deliver"
	"drawbridge/gateway/job"
	"drawbridge/gateway/job/polling"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/plan"
	"drawbridge/gateway/state"
	"drawbridge/gateway/telemetry"
)

const (
	// taskLabel is the version of the payload of task IDs.
	taskLabel = "drawbridge task 1"
	// MaxID is the maximum size of a task ID, which clients send in a header.
	MaxID = 8 << 10
	// maxTaskTarget is the maximum size in bytes of the URL that started a job, as stored in the task's ID.
	maxTaskTarget = 512
	// lockPause is the delay between the first two attempts to lock a task, and maxLockPause the maximum delay.
	lockPause    = 5 * time.Millisecond
	maxLockPause = 100 * time.Millisecond
	// maxKeptResult is the maximum size in bytes of a stored result. A larger one is fetched again for each request.
	maxKeptResult = 256 << 10
)

// Tasks are the jobs of clients with the extension io.modelcontextprotocol/tasks. A task's ID contains its state, so that any
// replica can report its status by polling the service (ADR 0011).
type Tasks struct {
	Options
	Handles   *mcp.SealedHandles
	Callbacks *mcp.SealedHandles   // tokens in callback URLs
	unsigned  telemetry.LogSampler // samples the log lines of rejected service webhooks
	Followers *Followers           // follow jobs whose callers asked for a webhook

	mu      sync.Mutex
	Watched map[string]*watchedTask
	hearing map[string]int           // number of subscribed tasks per caller
	waiting map[string]chan struct{} // calls that wait for a callback
}

// Options are everything that tasks need of the process.
type Options struct {
	// Records holds the records of tasks under unguessable keys. A lost record is rebuilt by polling the service, except for
	// given answers and requested cancellations.
	Records state.Records
	// Locks are held on tasks that are being polled: one poll serves all who request the status.
	Locks state.Locks
	// Publish tells other replicas that a task has changed.
	Publish   func(ctx context.Context, key string)
	Calls     *call.Runner
	Results   deliver.Results
	Log       *slog.Logger
	Metrics   *telemetry.Metrics
	Responses *admission.ResponseBudget
	BaseURL   func() string                                    // of the gateway, as services reach it
	Endpoint  func(name string) *call.Endpoint                 // in use under a name; nil if there is none
	Broker    func(endpoint string) *mcp.Broker                // of the clients of an endpoint; nil if there is none
	Keep      func(ctx context.Context, what string, f func()) // runs f again after a panic
	Survive   func(what string, step func()) (panicked bool)   // recovers from a panic
}

// New returns tasks whose IDs are sealed with the first of keys.
func New(keys [][]byte, o Options) (*Tasks, error) {
	handles, err := mcp.NewSealedHandles(keys, taskLabel)
	if err != nil {
		return nil, err
	}
	callbacks, err := mcp.NewSealedHandles(keys, callbackLabel)
	if err != nil {
		return nil, err
	}
	return &Tasks{
		Options: o, Handles: handles, Callbacks: callbacks, Followers: newJobFollowers(),
		Watched: map[string]*watchedTask{}, hearing: map[string]int{}, waiting: map[string]chan struct{}{},
	}, nil
}

// Payload is the payload of a task's ID, which only the gateway can read.
type Payload struct {
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
	// Server identifies the server of the call if claims select one.
	Server string `json:"v,omitempty"`
}

// Record is the stored state of a task: the fields that tasks/get returns, and when to poll next.
type Record struct {
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
func (r *Record) final() bool {
	return r.Status == mcp.TaskCompleted || r.Status == mcp.TaskFailed || r.Status == mcp.TaskCancelled
}

// large reports whether a task has a result that is too large to be stored.
func (r *Record) large() bool { return r.Status == mcp.TaskCompleted && r.Result == nil }

// Task is a task in the context of one request.
type Task struct {
	*Tasks
	Plan    *plan.Plan
	Call    polling.JobCall // queries the job on behalf of the caller of the request; zero if the job has just started
	id      string
	Payload Payload
	handle  *job.Handle
	owner   string
	refused *mcp.Error // if the status request failed because the caller's token was not exchanged; else nil
}

// newTask makes a task of the job that a call has started; the task is nil if the job's URL is too long for an ID.
func (s *Tasks) newTask(ctx context.Context, j *call.StartedJob) (*Task, *Record, error) {
	now, h := time.Now(), j.Handle
	p := Payload{
		Key: cmp.Or(j.Key, rand.Text()), Tool: j.Plan.Tool.Name, Status: h.Status, Fetch: h.Fetch, Cancel: h.Cancel, Answer: h.Answer,
		Plain: h.Plain, Created: now.UnixMilli(), Server: j.Plan.Server,
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
	id := s.Handles.Seal(payload, now.Add(j.Plan.Job.TTL+time.Second), j.Caller.ID, j.Endpoint.Name)
	if len(id) > MaxID {
		return nil, nil, nil
	}
	t := &Task{Tasks: s, Plan: j.Plan, id: id, Payload: p, handle: h, owner: j.Caller.ID}
	rec := &Record{Status: mcp.TaskWorking, Message: j.Report.Text(), Updated: now, Next: now.Add(j.Plan.Job.Pause(j.Retry))}
	return t, rec, t.Save(ctx, rec)
}

// of returns the task in the protocol's form.
func (t *Task) of(rec *Record) mcp.Task {
	m := mcp.Task{
		ID: t.id, Status: rec.Status, Message: rec.Message, Created: time.UnixMilli(t.Payload.Created), Updated: rec.Updated,
		TTL: t.Plan.Job.TTL, Poll: max(time.Millisecond, t.Plan.Job.Interval, time.Until(rec.Next).Truncate(time.Millisecond)), Result: rec.Result,
	}
	if rec.Status == mcp.TaskFailed {
		m.Err = &mcp.Error{Code: mcp.CodeInternal, Message: rec.Failure}
	}
	for i := range rec.Questions {
		q := &rec.Questions[i]
		m.InputRequests = append(m.InputRequests, q.Elicit(t.Plan.Title()+" of "+t.Plan.Tool.API, rec.Refused[q.Key]))
	}
	return m
}

// Open returns the task of an ID. inv is for whom, at which endpoint, and for which method; its plan is that of the task. The error is for
// the client: a task that belongs to another caller, has expired or never existed is unknown. The call of the task is not started.
func (s *Tasks) Open(ctx context.Context, inv call.Invocation, id string) (*Task, error) {
	e, owner := inv.Endpoint, inv.Caller.ID
	unknown := mcp.InvalidParams("unknown task: it has expired, or is not one of this caller")
	if len(id) > MaxID {
		return nil, unknown
	}
	payload, _, err := s.Handles.Open(id, time.Now(), owner, e.Name)
	if err != nil {
		return nil, unknown
	}
	t := &Task{Tasks: s, id: id, owner: owner}
	if err := json.Unmarshal(payload, &t.Payload); err != nil {
		return nil, unknown
	}
	p := e.Plan(t.Payload.Tool)
	if p == nil || p.Base == nil {
		return nil, unknown // its tool is gone
	}
	if p, err = p.For(inv.Caller.Principal); err != nil || p.Server != t.Payload.Server {
		return nil, unknown // the caller has another tenant now
	}
	if t.handle = t.Payload.handle(p); t.handle == nil {
		return nil, unknown // the service's origin has changed, and its credentials must not go to the old one
	}
	t.Plan = p
	inv.Tool, inv.Origin = call.Operation(p), call.FromTask
	t.Call = polling.JobCall{Call: s.Calls.New(ctx, inv), Key: t.Payload.Key}
	return t, t.Call.Authorize(ctx, s.Calls, t.Payload.Arguments)
}

// handle returns the handle of the task's job, as far as it may still be polled.
func (p *Payload) handle(plan *plan.Plan) *job.Handle {
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

// Load returns the record of the task, or nil if there is none.
func (t *Task) Load(ctx context.Context) (*Record, error) {
	value, ok, err := t.Records.Get(ctx, t.Payload.Key)
	if err != nil || !ok {
		return nil, err
	}
	rec := &Record{}
	if err := json.Unmarshal(value, rec); err != nil {
		return nil, err
	}
	if !t.asks() {
		rec.ask(nil)
	}
	return rec, nil
}

// asks reports whether questions can be answered: the rule must have had questions when the task began, and still have them.
func (t *Task) asks() bool { return t.Plan.Job.Questions != nil && t.handle.Answer != nil }

// ask records the questions of the job.
func (r *Record) ask(questions []job.Question) {
	r.Questions = questions
	switch {
	case len(questions) > 0:
		r.Status = mcp.TaskInputRequired
	case r.Status == mcp.TaskInputRequired:
		r.Status = mcp.TaskWorking
	}
}

// lock locks the task against concurrent polls and changes and returns its record. release must be called.
func (t *Task) lock(ctx context.Context) (rec *Record, release func(), err error) {
	pause, ok := lockPause, false
	for release, ok = t.tryLock(ctx); !ok; release, ok = t.tryLock(ctx) {
		select {
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		case <-time.After(pause):
			pause = min(2*pause, maxLockPause)
		}
	}
	if rec, err = t.Load(ctx); err != nil {
		release()
		return nil, nil, err
	}
	if rec == nil {
		rec = &Record{Status: mcp.TaskWorking, Updated: time.UnixMilli(t.Payload.Created)}
	}
	return rec, release, nil
}

// Save stores the record of the task and notifies its subscribers.
func (t *Task) Save(ctx context.Context, rec *Record) error {
	stored := *rec
	if len(stored.Result) > maxKeptResult {
		stored.Result = nil
	}
	value, err := json.Marshal(&stored)
	if err != nil {
		return err
	}
	until := time.UnixMilli(t.Payload.Created).Add(t.Plan.Job.TTL + time.Second)
	put := t.Records.Put
	if rec.final() {
		put = t.Records.Settle
	}
	return put(ctx, t.Payload.Key, t.owner, value, until)
}
