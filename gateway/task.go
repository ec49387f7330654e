package gateway

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"net/url"
	"sync"
	"time"

	"drawbridge/gateway/job"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/render"
	"drawbridge/gateway/state"
	"drawbridge/gateway/telemetry"
	"drawbridge/openapi/jsonscan"
)

const (
	// taskLabel is the version of the payload of task IDs.
	taskLabel = "drawbridge task 1"
	// maxTaskID is the maximum size of a task ID, which clients send in a header.
	maxTaskID = 8 << 10
	// maxTaskTarget is the maximum size in bytes of the URL that started a job, as stored in the task's ID.
	maxTaskTarget = 512
	// holdPause is the delay between the first two attempts to lock a task, and maxHoldPause the maximum delay.
	holdPause    = 5 * time.Millisecond
	maxHoldPause = 100 * time.Millisecond
	// maxKeptResult is the maximum size in bytes of a stored result. A larger one is fetched again for each request.
	maxKeptResult = 256 << 10
)

// tasks are the jobs of clients with the extension io.modelcontextprotocol/tasks. A task's ID contains its state, so that any
// replica can report its status by polling the service (ADR 0011).
type tasks struct {
	handles   *mcp.SealedHandles
	callbacks *mcp.SealedHandles // tokens in callback URLs
	// store holds the records of tasks under unguessable keys. A lost record is rebuilt by polling the service, except for
	// given answers and requested cancellations.
	store  state.Records
	holds  state.Locks // of tasks that are being polled: one poll serves all who request the status
	shared *shared

	mu      sync.Mutex
	watched map[string]*watchedTask
	hearing map[string]int           // number of subscribed tasks per caller
	waiting map[string]chan struct{} // calls that wait for a callback
}

func newTasks(keys [][]byte, s *shared) (*tasks, error) {
	handles, err := mcp.NewSealedHandles(keys, taskLabel)
	if err != nil {
		return nil, err
	}
	callbacks, err := mcp.NewSealedHandles(keys, callbackLabel)
	if err != nil {
		return nil, err
	}
	return &tasks{
		handles: handles, callbacks: callbacks, store: s.tasks, holds: s.holds, shared: s,
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
	*call
	id      string
	payload taskPayload
	begun   *job.Handle
	owner   string
	refused *mcp.Error // if the status request failed because the caller's token was not exchanged; else nil
}

// kept is a captured result, as serialized in the response to tools/call.
type kept struct{ members []byte }

// take captures the members of a result.
func (k *kept) take(meta []byte, chunks []mcp.Chunk) {
	k.members = k.members[:0]
	for _, c := range chunks {
		if c.Escape {
			k.members = jsonscan.AppendEscaped(k.members, c.Bytes)
		} else {
			k.members = append(k.members, c.Bytes...)
		}
	}
	if len(meta) > 0 {
		k.members = append(append(append(k.members, `,"_meta":{`...), meta...), '}')
	}
}

// beginTask makes a task of a job and responds with it. It returns false, without a response, if the client does not support
// tasks or the job can't have one.
func (c *call) beginTask(b *job.Handle, args []byte, first *look) (bool, error) {
	if c.req.RequireCapabilities(mcp.ClientTasks) != nil {
		return false, nil
	}
	t, rec, err := c.newTask(b, args, first)
	switch {
	case err != nil:
		return true, c.internal(err)
	case t == nil:
		return false, nil
	}
	c.follow(t)
	c.done(telemetry.OutcomeJob, nil)
	c.answered = true
	begins := t.of(rec)
	begins.Meta = render.AppendDropped(nil, c.dropped)
	return true, c.reply.Task(begins)
}

// newTask makes a task of a job; the task is nil if the job's URL is too long for an ID.
func (c *call) newTask(b *job.Handle, args []byte, first *look) (*task, *taskRecord, error) {
	now := time.Now()
	p := taskPayload{
		Key: cmp.Or(c.key, rand.Text()), Tool: c.plan.Tool.Name, Status: b.Status, Fetch: b.Fetch, Cancel: b.Cancel, Answer: b.Answer,
		Plain: b.Plain, Created: now.UnixMilli(),
	}
	if b.URL != nil {
		p.URL = b.URL.String()
	}
	if b.Result != nil {
		p.Result = b.Result.String()
	}
	if b.Target != nil {
		if p.Made = b.Target.String(); len(p.Made) > maxTaskTarget {
			p.Made = "" // keeps the ID short
		}
	}
	if c.plan.condition != nil {
		p.Arguments = args
	}
	payload, err := json.Marshal(p)
	if err != nil {
		return nil, nil, err
	}
	// Handles expire at whole seconds; the extra second guarantees the task's full TTL.
	id := c.g.tasks.handles.Seal(payload, now.Add(c.plan.job.TTL+time.Second), c.boundTask()...)
	if len(id) > maxTaskID {
		return nil, nil, nil
	}
	t := &task{call: c, id: id, payload: p, begun: b, owner: c.req.Principal}
	rec := &taskRecord{Status: mcp.TaskWorking, Message: first.Text(), Updated: now, Next: now.Add(c.plan.job.Pause(first.retry))}
	return t, rec, t.keep(c.ctx, rec)
}

// withoutTasks rejects a call whose job takes longer than a call can wait, for a client that does not support tasks. The legacy
// revisions know neither the error code nor the extension, so their clients get a text.
func (c *call) withoutTasks(lacks error) error {
	var fault *mcp.Error
	if c.req.Family == mcp.Stateless && errors.As(lacks, &fault) {
		c.plan.metrics.Count(telemetry.OutcomeNoTasks)
		if c.callRecord != nil {
			c.callRecord.outcome = telemetry.OutcomeNoTasks
		}
		reworded := *fault
		reworded.Message = "this tool begins a job that takes long, and answers with a task: the client needs the extension io.modelcontextprotocol/tasks"
		return &reworded
	}
	return c.fail(telemetry.OutcomeNoTasks, nil, "This tool begins a job that takes long, and answers with a task, which is for clients with the extension "+
		"io.modelcontextprotocol/tasks (2026-07-28). This client does not have it. Nothing was sent. Tell the user that the call has to be made in another way.")
}

// boundTask returns the data that a task's ID is bound to: the caller and the endpoint.
func (c *call) boundTask() []string { return []string{c.req.Principal, c.endpoint.name} }

// of returns the task in the protocol's form.
func (t *task) of(rec *taskRecord) mcp.Task {
	m := mcp.Task{
		ID: t.id, Status: rec.Status, Message: rec.Message, Created: time.UnixMilli(t.payload.Created), Updated: rec.Updated,
		TTL: t.plan.job.TTL, Poll: max(time.Millisecond, t.plan.job.Interval, time.Until(rec.Next).Truncate(time.Millisecond)), Result: rec.Result,
	}
	if rec.Status == mcp.TaskFailed {
		m.Err = &mcp.Error{Code: mcp.CodeInternal, Message: rec.Failure}
	}
	for i := range rec.Questions {
		q := &rec.Questions[i]
		m.InputRequests = append(m.InputRequests, q.Elicit(t.plan.title()+" of "+t.plan.Tool.API, rec.Refused[q.Key]))
	}
	return m
}

// openTask returns the task that a request names. The error is for the client: a task that belongs to another caller, has
// expired or never existed is unknown. The call of the task is not started.
func (g *Gateway) openTask(ctx context.Context, req *mcp.Request, reply *mcp.Reply) (*task, error) {
	e := endpointFrom(ctx)
	unknown := mcp.InvalidParams("unknown task: it has expired, or is not one of this caller")
	if len(req.TaskID) > maxTaskID {
		return nil, unknown
	}
	payload, _, err := g.tasks.handles.Open(req.TaskID, time.Now(), req.Principal, e.name)
	if err != nil {
		return nil, unknown
	}
	t := &task{id: req.TaskID, owner: req.Principal}
	if err := json.Unmarshal(payload, &t.payload); err != nil {
		return nil, unknown
	}
	p := e.plans[t.payload.Tool]
	if p == nil || p.base == nil {
		return nil, unknown // its tool is gone
	}
	t.call = &call{g: g, ctx: ctx, req: req, reply: reply, plan: p, endpoint: e.callEndpoint, kept: &kept{}, key: t.payload.Key}
	if t.begun = t.place(); t.begun == nil {
		return nil, unknown // the service's origin has changed, and its credentials must not go to the old one
	}
	return t, t.allowed(ctx)
}

// place returns the handle of the task's job, as far as it may still be polled.
func (t *task) place() *job.Handle {
	p := &t.payload
	b := &job.Handle{Status: p.Status, Fetch: p.Fetch, Cancel: p.Cancel, Answer: p.Answer, Plain: p.Plain, Origin: t.plan.base}
	for _, one := range []struct {
		text string
		at   **url.URL
	}{{p.URL, &b.URL}, {p.Result, &b.Result}, {p.Made, &b.Target}} {
		if one.text == "" {
			continue
		}
		if *one.at = b.Resolve(one.text); *one.at == nil {
			return nil
		}
	}
	b.Base = t.plan.job.BaseOf(t.plan.base)
	if r := t.plan.job.Status; r == nil || r.Operation == nil {
		b.Status = nil
	}
	if r := t.plan.job.Status; (r == nil || r.Operation == nil || b.Status == nil) && b.URL == nil && t.plan.job.Callback == nil {
		return nil // the rule has changed
	}
	return b
}

// load returns the record of the task, or nil if there is none.
func (t *task) load(ctx context.Context) (*taskRecord, error) {
	value, ok, err := t.g.tasks.store.Get(ctx, t.payload.Key)
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
func (t *task) asks() bool { return t.plan.job.Questions != nil && t.begun.Answer != nil }

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

// hold locks the task against concurrent polls and changes and returns its record. release must be called.
func (t *task) hold() (rec *taskRecord, release func(), err error) {
	pause, ok := holdPause, false
	for release, ok = t.begin(); !ok; release, ok = t.begin() {
		select {
		case <-t.ctx.Done():
			return nil, nil, t.ctx.Err()
		case <-time.After(pause):
			pause = min(2*pause, maxHoldPause)
		}
	}
	if rec, err = t.load(t.ctx); err != nil {
		release()
		return nil, nil, err
	}
	if rec == nil {
		rec = &taskRecord{Status: mcp.TaskWorking, Updated: time.UnixMilli(t.payload.Created)}
	}
	return rec, release, nil
}

// keep stores the record of the task and notifies its subscribers.
func (t *task) keep(ctx context.Context, rec *taskRecord) error {
	stored := *rec
	if len(stored.Result) > maxKeptResult {
		stored.Result = nil
	}
	value, err := json.Marshal(&stored)
	if err != nil {
		return err
	}
	until := time.UnixMilli(t.payload.Created).Add(t.plan.job.TTL + time.Second)
	put := t.g.tasks.store.Put
	if rec.final() {
		put = t.g.tasks.store.Settle
	}
	return put(ctx, t.payload.Key, t.owner, value, until)
}
