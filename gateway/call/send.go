package call

import (
	"context"
	"net/http"
	"time"

	"drawbridge/gateway/render"
	"drawbridge/gateway/telemetry"
	"drawbridge/gateway/upstream"
)

// send builds the request and sends it. The receiver of the response closes its body, or has answer.Plan.Read do so.
func (c *Call) send(ctx context.Context) (*http.Response, error) {
	args, key := c.Arguments, ""
	if c.Plan.Key != nil {
		args, key = c.Plan.Key.Prepare(args)
	}
	if c.span != nil {
		ctx = upstream.WithTemplate(ctx, c.Plan.Operation.Path)
	}
	ctx = c.Plan.Source.Context(ctx, c.Plan.Operation)
	given := args
	args, err := c.fileArguments(args)
	if err != nil {
		return nil, err
	}
	built, err := c.Plan.Requests.Build(ctx, c.Plan.Base, args)
	if err != nil {
		return nil, c.Failed(ctx, err)
	}
	req := built.Request
	c.addDropped(built.Dropped)
	if c.mistyped = built.Mistyped; c.mistyped != nil {
		c.countDifferences(c.Plan.Requests.Tolerated(c.mistyped))
	}
	if key != "" {
		c.Plan.Key.Attach(req.Header, key)
	}
	if err := c.attachFiles(req); err != nil {
		return nil, c.Failed(ctx, err)
	}
	c.args, c.target = built.Args, req.URL
	if len(c.files) > 0 { // records have the URIs
		c.args = given
	}
	for name, values := range c.Validators {
		req.Header[name] = values
	}
	if err := c.awaitAudit(ctx); err != nil {
		return nil, c.Failed(ctx, err)
	}
	c.start = time.Now()
	resp, err := c.fetch(ctx, req)
	if err != nil {
		c.start = time.Time{}
		return nil, c.Failed(ctx, err)
	}
	c.memory.limit(ctx, resp)
	c.location, c.locationResponse = resp.Header.Get("Location"), resp
	render.HideLocation(resp, c.Redactor())
	waited := c.elapsed()
	if waited > 0 {
		telemetry.Observe(c.Plan.Metrics.Traffic.Wait, c.span, waited)
	}
	if err := logResponse(c.Client, resp.StatusCode, waited); err != nil {
		_ = resp.Body.Close()
		return nil, err
	}
	return resp, nil
}
