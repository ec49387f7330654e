package call

import (
	"strconv"
	"time"

	"drawbridge/gateway/mcp"
	"drawbridge/gateway/telemetry"
	"drawbridge/openapi"
	"drawbridge/openapi/jsonscan"
)

// logger is the name of the gateway in log messages to clients.
const logger = "drawbridge"

// Clients that subscribe to log messages learn the progress of a call: the operation, the status, the outcome. The
// messages contain nothing of the request, the answer or the service's address.

// logRequest logs to the client that the request is being sent.
func logRequest(to Client, op *openapi.Operation) error {
	if !to.LogEnabled(mcp.LevelDebug) {
		return nil
	}
	text := jsonscan.AppendString([]byte(`{"event":"request","method":`), op.Method)
	text = jsonscan.AppendString(append(text, `,"path":`...), op.Path)
	return to.Log(mcp.LevelDebug, logger, append(text, '}'))
}

// logResponse logs to the client that the service has begun to answer.
func logResponse(to Client, status int, after time.Duration) error {
	level := mcp.LevelInfo
	switch {
	case status >= 500:
		level = mcp.LevelError
	case status >= 400:
		level = mcp.LevelWarning
	}
	if !to.LogEnabled(level) {
		return nil
	}
	text := strconv.AppendInt([]byte(`{"event":"answer","status":`), int64(status), 10)
	text = strconv.AppendInt(append(text, `,"milliseconds":`...), after.Milliseconds(), 10)
	return to.Log(level, logger, append(text, '}'))
}

// logOutcome logs the outcome of the call to the client.
func logOutcome(to Client, o telemetry.Outcome) {
	if to.LogEnabled(mcp.LevelDebug) {
		text := jsonscan.AppendString([]byte(`{"event":"outcome","outcome":`), string(o))
		_ = to.Log(mcp.LevelDebug, logger, append(text, '}')) // the answer that follows meets the same error
	}
}
