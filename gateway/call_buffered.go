package gateway

import (
	"bytes"
	"log/slog"
	"net/http"
	"slices"

	"drawbridge/openapi/answer"
)

// collect executes the plan for who needs the whole answer at hand: it returns the parts of one with a status below 300,
// without the gateway's secrets, and the answer itself, whose body has been read. All other answers are a *failure.
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
	if parts, err = c.gather(resp, c.result); err != nil {
		return nil, resp, c.failed(err)
	}
	return parts, resp, nil
}

// gather reads an answer to its end and returns its parts, each prepared first, without the gateway's secrets, and in memory of
// their own.
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

// isUnended tells whether nobody can tell if an answer is whole: who passes it on says so.
func isUnended(parts []answer.Part, resp *http.Response) bool {
	if len(parts) == 0 {
		return !answer.Delimited(resp)
	}
	return slices.ContainsFunc(parts, func(p answer.Part) bool { return p.MaybeTruncated })
}

// cleaned takes the service's own credential out of a part of its answer.
func (c *call) cleaned(part *answer.Part) {
	if c.redactor().Part(part) {
		c.g.log.LogAttrs(c.ctx, slog.LevelWarn, "the service's answer held its credential, which was taken out",
			slog.String("api", c.plan.Tool.API), slog.String("tool", c.plan.Tool.Name))
	}
}
