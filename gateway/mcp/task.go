package mcp

import (
	"fmt"
	"strconv"
	"time"

	"drawbridge/openapi/jsonscan"
)

// TaskStatus is the state of a task (extension io.modelcontextprotocol/tasks).
type TaskStatus string

// The states of a task. The last three are final.
const (
	TaskWorking       TaskStatus = "working"
	TaskInputRequired TaskStatus = "input_required"
	TaskCompleted     TaskStatus = "completed" // also if the result has isError
	TaskFailed        TaskStatus = "failed"    // with a JSON-RPC error, and in no other case
	TaskCancelled     TaskStatus = "cancelled"
)

// Task is a call that goes on after its response.
type Task struct {
	// ID is the handle that the client has; see [SealedHandles].
	ID     string
	Status TaskStatus
	// Message describes the state in a sentence; it may be empty.
	Message string
	// Created and Updated are the times of creation and of the last change.
	Created, Updated time.Time
	// TTL is how long after Created the task can be queried; 0 means forever.
	TTL time.Duration
	// Poll is the recommended polling interval; 0 omits it.
	Poll time.Duration
	// InputRequests are the open input requests of a task with TaskInputRequired. A task must never reuse a key.
	InputRequests []InputRequest
	// Result holds the members of the call's result if the task is completed: JSON text without braces.
	Result []byte
	// Err is the error of a failed task.
	Err *Error
	// Meta holds members of the _meta of the response to tools/call: JSON text without braces.
	Meta []byte
}

// append appends the members of the task; detailed adds those that depend on its status.
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
		// A result like any other (mcp-R2), but without the members of this request.
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

// AppendJSON appends all members of a task, as tasks/get returns them, without braces.
func (t *Task) AppendJSON(dst []byte) []byte { return t.append(dst, true) }

// Task answers tools/call with a task: the call goes on, and the client polls it by tasks/get. A tasks/get for its ID
// must succeed already. If the client has not declared the extension, nothing is sent and the error is an
// *[ClientUnsupportedError]; the method then waits for the end itself, or returns the error to refuse the request.
func (r *Reply) Task(t Task) error {
	x := r.x
	switch {
	case x.req.Family != Stateless || !x.req.Client.Has(ClientTasks):
		return &ClientUnsupportedError{Missing: ClientTasks, reason: missingCapability(ClientTasks)}
	case !protocolMethods[x.req.Method].startsTasks:
		return fmt.Errorf("method %q must not answer with a task", x.req.Method)
	}
	x.cacheable = false
	return r.result("task", t.Meta, Chunk{Bytes: t.append(nil, false)})
}

// TaskState answers tasks/get with all members of a task.
func (r *Reply) TaskState(t Task) error {
	return r.Result(Chunk{Bytes: t.append(nil, true)})
}
