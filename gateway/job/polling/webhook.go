package polling

import (
	"context"

	"drawbridge/gateway/call"
	"drawbridge/gateway/job"
)

// webhook returns the service's webhook about the job, or nil if none is known to this replica.
func (c *JobCall) webhook(ctx context.Context) (*call.ServiceWebhook, error) {
	if c.Key == "" || c.Plan.Job.Callback == nil {
		return nil, nil //nolint:nilnil // no webhook
	}
	return c.Endpoint.Continuation.Received(ctx, c.Key)
}

// webhookStatus interprets a callback as the response to a status request. It returns nil if the service must still be polled.
func (c *JobCall) webhookStatus(ctx context.Context, b *job.Handle, rec *call.ServiceWebhook) (*JobStatus, error) {
	l, err := c.parseStatus(ctx, rec.Type, rec.Body)
	if err != nil {
		return nil, c.statusFailure(ctx, err)
	}
	placed := b.URL != nil || b.Status != nil
	switch l.State {
	case job.Failed, job.Cancelled:
		return l, nil
	case job.Succeeded:
		if c.Plan.Job.Result != nil || b.Result != nil || c.Plan.Job.HasOutput(l.body) || !placed {
			return l, c.fetchResult(ctx, b, l)
		}
	case job.Unknown, job.Working:
		if !placed {
			l.State = job.Succeeded // the callback's body is the result
			return l, c.resultInStatus(ctx, l)
		}
	}
	return nil, nil //nolint:nilnil // the service must be polled
}
