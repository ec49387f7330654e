package call

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"drawbridge/gateway/projection"
	"drawbridge/gateway/render"
	"drawbridge/gateway/telemetry"
	"drawbridge/openapi/answer"
)

// reportedFailure returns the failure of a call whose response has a status below 300 and a part that reports a failure by the rule of the operator;
// nil if it reports none. The part has been redacted. It is an error like one of status 4xx: the service has handled the request, and refuses it. A part
// on which the rule can't be evaluated is a success, since the status says so.
func (c *Call) reportedFailure(ctx context.Context, resp *http.Response, part answer.Part) error {
	if c.Plan.Failure == nil || resp.StatusCode >= 300 {
		return nil
	}
	data := judgedJSON(part)
	if data == nil || !c.reports(ctx, data) {
		return nil
	}
	e := render.UpstreamError{
		API: c.Plan.Tool.API, Response: resp, Safe: c.Plan.ChangesNothing(), Redactor: c.ErrorRedactor(resp.StatusCode), Owner: c.Plan.CredentialOwner(c.Caller.Header),
		Reported: true, Said: c.Plan.Failure.Text(ctx, data),
	}
	e.AddPart(part)
	return &Failure{Outcome: telemetry.OutcomeClientError, Text: e.Text(false, time.Now())}
}

// reports evaluates the rule on JSON, and logs that it can't be evaluated.
func (c *Call) reports(ctx context.Context, data []byte) bool {
	reported, err := c.Plan.Failure.Reported(ctx, data)
	if err != nil && ctx.Err() == nil {
		if line := c.r.faults.Sample(c.Plan.Tool.API, "error.when", time.Now()); line.Logged {
			c.r.Log.LogAttrs(ctx, slog.LevelWarn, "a response counts as a success, because error.when can't be evaluated on it", line.Attrs([]slog.Attr{
				slog.String("api", c.Plan.Tool.API), slog.String("tool", c.Plan.Tool.Name), slog.Int("bytes", len(data)), slog.Any("error", err),
			}, "further ones are not logged")...)
		}
	}
	return reported
}

// judgedJSON returns the JSON of a part, which services in trouble label in many ways, or nil.
func judgedJSON(part answer.Part) []byte {
	switch {
	case part.Kind == answer.JSON:
		return part.Data
	case part.Kind == answer.Text:
		if data, ok := projection.Structure(part.Data); ok {
			return data
		}
	}
	return nil
}

// isNoFailure reports whether the body of a response that is to be cached reports no failure: the next call may succeed.
func (c *Call) isNoFailure(ctx context.Context, body []byte) bool {
	data, ok := projection.Structure(body)
	return !ok || !c.reports(ctx, data)
}
