package gateway

import (
	"context"
	"net/url"
	"time"

	"drawbridge/gateway/job"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/plan"
)

// continuation is what calls need of tasks: whatever concerns a job beyond the call that has started it. It is safe for
// concurrent use.
type continuation interface {
	// newCallback returns a URL that the service can call when the job of a plan's call has ended, and the key under which
	// that webhook is known. Only the owner of the call can learn of it.
	newCallback(p *plan.Plan, owner string) (key, url string, err error)
	// received returns the webhook that the service has sent for a key, or nil if none has arrived.
	received(ctx context.Context, key string) (*serviceWebhook, error)
	// expect returns a channel that receives when the service sends its webhook; end must be called.
	expect(key string) (wake <-chan struct{}, end func())
	// callerWebhook returns the URL at which the caller of a request wants to learn of the end of a job, or nil if it names
	// none. The error is for the client.
	callerWebhook(req *mcp.Request) (*url.URL, error)
	// beginTask makes a task of a job, and follows it for the caller's webhook. It returns false if the job can't be a task.
	beginTask(ctx context.Context, j *startedJob) (t mcp.Task, ok bool, err error)
	// follow follows a job for the caller's webhook until it ends. It returns false if it can't be followed.
	follow(ctx context.Context, j *startedJob) bool
}

// startedJob is a job that a call has started.
type startedJob struct {
	plan     *plan.Plan
	endpoint *callEndpoint
	req      *mcp.Request
	args     []byte   // of the call
	key      string   // of the service's webhook; "" if the service does not call back
	webhook  *url.URL // of the caller; nil if the caller has none
	handle   *job.Handle
	report   job.Report    // in the response that started the job
	retry    time.Duration // until the first poll, as the service asks for; 0 if it does not
}

// serviceWebhook is the content of a webhook from a service.
type serviceWebhook struct {
	Type string `json:"t"` // Content-Type
	Body []byte `json:"b"`
}
