package call

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"

	"drawbridge/gateway/redact"
	"drawbridge/openapi/answer"
)

// redactor returns the redactor that removes everything the gateway attached to the call's request from its answers.
// The tokens that were sent are known once there is an answer.
func (x *exchange) redactor() redact.Redactor {
	if x.sent != nil && x.sentSecrets == nil {
		x.sentSecrets = redact.NewSent(x.sent.Reveal())
	}
	return redact.Redactor{Configured: x.Plan.Secrets, Sent: x.sentSecrets}
}

// errorRedactor is redactor for the text of an error with a status. URLs and addresses that the caller sent stay, and so do links by which
// a user gets on. Arguments that the gateway adds are not the caller's.
func (x *exchange) errorRedactor(status int) redact.Redactor {
	r := x.redactor()
	r.Kept = &redact.Kept{Document: x.Plan.PublicHosts, Links: status < http.StatusInternalServerError}
	if len(x.args) > 0 {
		r.Kept.Sent = redact.NewSentHosts(x.Plan.Arguments.Given(x.args))
	}
	return r
}

// readResponse reads a response to the plan's request as [answer.Plan.Read] does. emit gets each part after its
// sensitive fields are hidden. Invisible characters are removed before that, because a zero-width character would make
// another name or another secret of it. Error responses are always cleaned, since only a model reads their texts.
func (x *exchange) readResponse(resp *http.Response, emit func(answer.Part) error) error {
	s, clean := x.Plan.Sensitive, x.Plan.Clean || resp.StatusCode >= 300
	if s == nil && x.jobSensitive == nil && !clean {
		return x.Plan.Operation.Answers.Read(resp, emit)
	}
	return x.Plan.Operation.Answers.Read(resp, func(part answer.Part) error {
		if clean {
			part.Clean()
		}
		if s != nil {
			s.Part(&part)
		}
		for _, more := range x.jobSensitive {
			more.Part(&part)
		}
		return emit(part)
	})
}

// gather reads a response to its end and returns its parts, without the gateway's secrets, and in memory of their own.
// prepare is called for each part first.
func (x *exchange) gather(ctx context.Context, resp *http.Response, prepare func(*answer.Part)) (parts []answer.Part, err error) {
	err = x.readResponse(resp, func(part answer.Part) error {
		prepare(&part)
		x.redactPart(ctx, &part)
		part.Data = bytes.Clone(part.Data)
		parts = append(parts, part)
		return nil
	})
	return parts, err
}

// redactPart removes the credential of the service from a part of its answer.
func (x *exchange) redactPart(ctx context.Context, part *answer.Part) {
	if x.redactor().Part(part) {
		x.r.Log.LogAttrs(ctx, slog.LevelWarn, "the response of the service contained its credential, which was redacted",
			slog.String("api", x.Plan.Tool.API), slog.String("tool", x.Plan.Tool.Name))
	}
}
