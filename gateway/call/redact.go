package call

import (
	"net/http"

	"drawbridge/gateway/redact"
)

// Redactor returns the redactor that removes everything the gateway attached to the call's request from its answers.
// The tokens that were sent are known once there is an answer.
func (c *Call) Redactor() redact.Redactor {
	if c.sent != nil && c.sentSecrets == nil {
		c.sentSecrets = redact.NewSent(c.sent.Reveal())
	}
	return redact.Redactor{Configured: c.Plan.Secrets, Sent: c.sentSecrets}
}

// ErrorRedactor is Redactor for the text of an error with a status. URLs and addresses that the caller sent stay, and so do links by which
// a user gets on. Arguments that the gateway adds are not the caller's.
func (c *Call) ErrorRedactor(status int) redact.Redactor {
	r := c.Redactor()
	r.Kept = &redact.Kept{Document: c.Plan.PublicHosts, Links: status < http.StatusInternalServerError}
	if len(c.args) > 0 {
		r.Kept.Sent = redact.NewSentHosts(c.Plan.Arguments.Given(c.args))
	}
	return r
}
