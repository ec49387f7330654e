package call

import (
	"errors"

	"drawbridge/openapi"
	"drawbridge/openapi/answer"
	"drawbridge/openapi/drift"
)

// countDifferences counts differences from the document of the operation.
func (c *Call) countDifferences(all []drift.Difference) {
	if c.Policy.Report == Unreported {
		return
	}
	op := c.Plan.Operation
	for _, d := range all {
		c.r.Drift.Add(c.Plan.Tool.API, op.Method, op.Path, d)
	}
}

// countRefusal counts how refused arguments differ from the document, if that is the error.
func (c *Call) countRefusal(err error) {
	var refused *openapi.ArgumentError
	if c.Plan != nil && errors.As(err, &refused) {
		c.countDifferences(refused.Differences())
	}
}

// compareResponse counts how the response to the request of the plan differs from the document. parts are those of a response of
// status 2xx.
func (c *Call) compareResponse(status int, parts []answer.Part) {
	media := ""
	if len(parts) == 1 {
		media = parts[0].MediaType
	}
	if d, differs := c.Plan.Operation.Answers.Undeclared(status, media); differs {
		d.Got = c.Redactor().Text(d.Got)
		c.countDifferences([]drift.Difference{d})
	}
	for i := range parts {
		if p := &parts[i]; p.Differences != nil && !p.Declared {
			c.countDifferences(p.Differences)
		}
	}
}
