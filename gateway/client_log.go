package gateway

import (
	"strconv"
	"time"

	"drawbridge/gateway/mcp"
	"drawbridge/gateway/telemetry"
	"drawbridge/openapi/jsonscan"
)

// logger is the name of the gateway in log messages to clients.
const logger = "drawbridge"

// silence is how long a call may take before its answer becomes an event stream with comments, so that no proxy on the way
// takes the connection for dead; only calls that may take much longer are watched for it.
const silence = 45 * time.Second

// Clients that want log messages are told what becomes of a call: the operation, the status, the outcome. Nothing of the
// request, the answer or the service's address is in them.

// tellRequest tells that the request goes out.
func (c *call) tellRequest() error {
	if !c.reply.LogEnabled(mcp.LevelDebug) {
		return nil
	}
	text := jsonscan.AppendString([]byte(`{"event":"request","method":`), c.plan.Operation.Method)
	text = jsonscan.AppendString(append(text, `,"path":`...), c.plan.Operation.Path)
	return c.reply.Log(mcp.LevelDebug, logger, append(text, '}'))
}

// tellAnswer tells that the service has begun to answer.
func (c *call) tellAnswer(status int, after time.Duration) error {
	level := mcp.LevelInfo
	switch {
	case status >= 500:
		level = mcp.LevelError
	case status >= 400:
		level = mcp.LevelWarning
	}
	if !c.reply.LogEnabled(level) {
		return nil
	}
	text := strconv.AppendInt([]byte(`{"event":"answer","status":`), int64(status), 10)
	text = strconv.AppendInt(append(text, `,"milliseconds":`...), after.Milliseconds(), 10)
	return c.reply.Log(level, logger, append(text, '}'))
}

// tellOutcome tells what the call has come to.
func (c *call) tellOutcome(o telemetry.Outcome) {
	if c.kept == nil && c.reply.LogEnabled(mcp.LevelDebug) { // of tasks nothing is told in this way
		text := jsonscan.AppendString([]byte(`{"event":"outcome","outcome":`), string(o))
		_ = c.reply.Log(mcp.LevelDebug, logger, append(text, '}')) // the answer that follows meets the same error
	}
}
