package mcp

import (
	"fmt"
	"strconv"
	"time"

	"drawbridge/openapi/jsonscan"
)

// TaskStatus is where a task stands (extension io.modelcontextprotocol/tasks).
type TaskStatus string

// The states of a task. The last three are final.
const (
	TaskWorking       TaskStatus = "working"
	TaskInputRequired TaskStatus = "input_required"
	TaskCompleted     TaskStatus = "completed" // also with a result that has isError
	TaskFailed        TaskStatus = "failed"    // by a JSON-RPC error, and by nothing else
	TaskCancelled     TaskStatus = "cancelled"
)

// Task is a call that goes on after its answer.
type Task struct {
	// ID is the handle that the client has; see [Handles].
	ID     string
	Status TaskStatus
	// Message is a sentence about the state; may be empty.
	Message string
	// Created and Updated are when the task began and when it last changed.
	Created, Updated time.Time
	// TTL is how long after Created the task can be asked for; 0: for ever.
	TTL time.Duration
	// Poll is how often the client should ask; 0: it is not told.
	Poll time.Duration
	// Questions are all that wait for an answer, of a task with TaskInputRequired. A
	// task never uses a key twice.
	InputRequests []InputRequest
	// Result holds the members of the call's result, of a completed task: JSON text
	// without braces.
	Result []byte
	// Err is why the task failed.
	Err *Error
	// Meta holds members of the _meta of the answer to tools/call: JSON text without braces.
	Meta []byte
}

// append appends the members of the task; detailed: also what only its state has.
func (t *Task) append(dst []byte, detailed bool) []byte {
	dst = jsonscan.AppendString(append(dst, `"taskId":`...), t.ID)
	dst = jsonscan.AppendString(append(dst, `,"status":`...), string(t.Status))
	if t.Message != "" {
		dst = jsonscan.AppendString(append(dst, `,"statusMessage":`...), t.Message)
	}
	const iso = `"2006-01-02T15:04:05.000Z"`
	dst = t.Created.UTC().AppendFormat(append(dst, `,"createdAt":`...), iso)
	dst = t.Updated.UTC().AppendFormat(append(dst, `,"lastUpdatedAt":`...), iso)
	if t.TTL > 0 {
		dst = strconv.AppendInt(append(dst, `,"ttlMs":`...), int64(t.TTL/time.Millisecond), 10)
	} else {
		dst = append(dst, `,"ttlMs":null`...)
	}
	if t.Poll > 0 {
		dst = strconv.AppendInt(append(dst, `,"pollIntervalMs":`...), int64(t.Poll/time.Millisecond), 10)
	}
	if !detailed {
		return dst
	}
	switch t.Status {
	case TaskInputRequired:
		dst = appendInputRequests(append(dst, `,"inputRequests":`...), t.InputRequests)
	case TaskCompleted:
		// A result like any other (mcp-R2), if not of this request.
		dst = append(append(dst, `,"result":{"resultType":"complete",`...), t.Result...)
		dst = append(trimComma(dst), '}')
	case TaskFailed:
		e := t.Err
		if e == nil {
			e = &Error{Code: CodeInternal, Message: "internal error"}
		}
		dst = e.append(append(dst, `,"error":`...))
	case TaskWorking, TaskCancelled:
	}
	return dst
}

// AppendJSON appends the members of a task with all that there is to know of it, as tasks/get tells it, without braces.
func (t *Task) AppendJSON(dst []byte) []byte { return t.append(dst, true) }

// Task answers tools/call with a task: the call goes on, and the client asks for it by
// tasks/get. The task must be there before (a tasks/get for its ID would find it), and
// it has nothing to say yet but its state. A client that has not declared the extension
// gives an *UnableError, and gets nothing: the method then waits for the end itself, or
// refuses by returning the error.
func (r *Reply) Task(t Task) error {
	x := r.x
	switch {
	case x.req.Family != Stateless || !x.req.Client.Has(ClientTasks):
		return &ElicitationUnsupportedError{Missing: ClientTasks, reason: missingCapability(ClientTasks)}
	case x.req.Method != "tools/call":
		return fmt.Errorf("method %q must not answer with a task", x.req.Method)
	}
	x.cacheable = false
	return r.result("task", t.Meta, Chunk{Bytes: t.append(nil, false)})
}

// TaskState answers tasks/get with all that there is to know of a task.
func (r *Reply) TaskState(t Task) error {
	return r.Result(Chunk{Bytes: t.append(nil, true)})
}
