package call

import (
	"context"
	"encoding/json"
	"net/url"
	"time"

	"drawbridge/gateway/job"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/plan"
)

// Continuation is what calls need of tasks: whatever concerns a job beyond the call that has started it. It is safe for
// concurrent use.
type Continuation interface {
	// NewCallback returns a URL that the service can call when the job of a plan's call has ended, and the key under which
	// that webhook is known. Only the owner of the call can learn of it.
	NewCallback(p *plan.Plan, owner string) (key, url string, err error)
	// Received returns the webhook that the service has sent for a key, or nil if none has arrived.
	Received(ctx context.Context, key string) (*ServiceWebhook, error)
	// Expect returns a channel that receives when the service sends its webhook; end must be called.
	Expect(key string) (wake <-chan struct{}, end func())
	// CallerWebhook returns the URL at which the caller of a request with these params wants to learn of the end of a job, or nil if
	// they name none. The error is for the client.
	CallerWebhook(params json.RawMessage) (*url.URL, error)
	// BeginTask makes a task of a job, and follows it for the caller's webhook. It returns false if the job can't be a task.
	BeginTask(ctx context.Context, j *StartedJob) (t mcp.Task, ok bool, err error)
	// Follow follows a job for the caller's webhook until it ends. It returns false if it can't be followed.
	Follow(ctx context.Context, j *StartedJob) bool
}

// StartedJob is a job that a call has started.
type StartedJob struct {
	Plan      *plan.Plan
	Endpoint  *Endpoint
	Caller    Caller
	Arguments []byte   // of the call
	Key       string   // of the service's webhook; "" if the service does not call back
	Webhook   *url.URL // of the caller; nil if the caller has none
	Handle    *job.Handle
	Report    job.Report    // in the response that started the job
	Retry     time.Duration // until the first poll, as the service asks for; 0 if it does not
}

// ServiceWebhook is the content of a webhook from a service.
type ServiceWebhook struct {
	Type string `json:"t"` // Content-Type
	Body []byte `json:"b"`
}
