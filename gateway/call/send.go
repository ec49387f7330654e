package call

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"drawbridge/gateway/render"
	"drawbridge/gateway/telemetry"
	"drawbridge/gateway/upstream"
)

// send builds the request and sends it. The receiver of the response closes its body, or has answer.Plan.Read do so,
// and then calls observe.
func (c *Call) send(ctx context.Context, args json.RawMessage) (*http.Response, error) {
	key := ""
	if c.Plan.Key != nil {
		args, key = c.Plan.Key.Prepare(args)
	}
	if c.span != nil {
		ctx = upstream.WithTemplate(ctx, c.Plan.Operation.Path)
	}
	ctx = c.Plan.Source.Context(ctx, c.Plan.Operation)
	built, err := c.Plan.Requests.Build(ctx, c.Plan.Base, args)
	if err != nil {
		return nil, c.failed(ctx, err)
	}
	req := built.Request
	c.addDropped(built.Dropped)
	if key != "" {
		c.Plan.Key.Attach(req.Header, key)
	}
	c.args, c.target = built.Args, req.URL
	for name, values := range c.header {
		req.Header[name] = values
	}
	if err := c.awaitAudit(ctx); err != nil {
		return nil, c.failed(ctx, err)
	}
	c.start = time.Now()
	resp, err := c.fetch(ctx, req)
	if err != nil {
		var unheard replyError
		if errors.As(err, &unheard) {
			return nil, unheard.error
		}
		return nil, c.failed(ctx, err)
	}
	c.memory.limit(ctx, resp)
	c.location, c.locationResponse = resp.Header.Get("Location"), resp
	render.HideLocation(resp, c.redactor())
	waited := c.elapsed()
	if waited > 0 {
		telemetry.Observe(c.Plan.Metrics.Traffic.Wait, c.span, waited)
	}
	if err := logResponse(c.reply, resp.StatusCode, waited); err != nil {
		_ = resp.Body.Close()
		c.observe()
		return nil, err
	}
	return resp, nil
}
