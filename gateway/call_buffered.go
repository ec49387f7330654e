package gateway

import (
	"bytes"
	"log/slog"
	"net/http"

	"drawbridge/openapi/answer"
)

// collect executes the plan and buffers the whole answer. It returns the parts of an answer with a status below 300,
// without the gateway's secrets, and the response, whose body has been read. Any other answer is a *failure.
func (c *call) collect(args []byte) (parts []answer.Part, resp *http.Response, err error) {
	if resp, err = c.send(args); err != nil {
		return nil, nil, err
	}
	defer c.observe()
	if resp.StatusCode >= 300 {
		if err = c.refused(resp); err != nil {
			err = c.failed(err)
		}
		return nil, resp, err
	}
	if parts, err = c.gather(resp, c.plan.progress.Reduce); err != nil {
		return nil, resp, c.failed(err)
	}
	return parts, resp, nil
}

// gather reads a response to its end and returns its parts, without the gateway's secrets, and in memory of their own.
// prepare is called for each part first.
func (c *call) gather(resp *http.Response, prepare func(*answer.Part)) (parts []answer.Part, err error) {
	err = c.readResponse(resp, func(part answer.Part) error {
		prepare(&part)
		c.cleaned(&part)
		part.Data = bytes.Clone(part.Data)
		parts = append(parts, part)
		return nil
	})
	return parts, err
}

// cleaned removes the credential of the service from a part of its answer.
func (c *call) cleaned(part *answer.Part) {
	if c.redactor().Part(part) {
		c.g.log.LogAttrs(c.ctx, slog.LevelWarn, "the service's answer held its credential, which was taken out",
			slog.String("api", c.plan.Tool.API), slog.String("tool", c.plan.Tool.Name))
	}
}
