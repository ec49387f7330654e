package gateway

import (
	"cmp"
	"net/http"
	"strconv"
	"strings"

	"drawbridge/config"
	"drawbridge/gateway/mcp"
	"drawbridge/openapi"
	"drawbridge/openapi/answer"
	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/truncate"
)

// maxEventText is the most bytes of an event's text that a client is sent: 500 and an ellipsis.
const maxEventText = 500 + len(truncate.Ellipsis)

// eventRules locate progress and log messages in the events of a streamed answer, as JSON Pointers. They are immutable.
type eventRules struct {
	progress, total, message, log string
	result                        string // "" if the answer is all events
	exact                         bool   // events without a number are not reported
	hide                          bool
}

// eventRulesOf returns the rules of a setting, or nil if there is none, so that the default rules apply.
func eventRulesOf(p *config.Progress) *eventRules {
	if !p.On() {
		return nil
	}
	return &eventRules{
		progress: cmp.Or(p.Progress.String(), "/progress"), total: cmp.Or(p.Total.String(), "/total"),
		message: cmp.Or(p.Message.String(), "/message"), log: cmp.Or(p.Log.String(), "/log"),
		result: p.Result.String(), exact: p.Progress != "", hide: p.Hide,
	}
}

// watch forwards the events of a streamed answer to the client as they arrive, if the client asked for progress by a
// token, or for log messages by a level.
func (c *call) watch(resp *http.Response) {
	if c.req.Meta.ProgressToken == nil && !c.reply.LogEnabled(mcp.LevelEmergency) {
		return
	}
	rules := c.plan.progress
	if rules == nil {
		rules = eventRulesOf(&config.Progress{})
	}
	if rules.hide {
		return
	}
	w := &eventWatch{call: c, rules: rules}
	c.plan.Operation.Answers.OnEvent(resp, w.see)
}

// result reduces a streamed answer to its result if the rules locate one.
func (c *call) result(part *answer.Part) {
	if rules := c.plan.progress; rules != nil && rules.result != "" {
		part.Result(rules.result)
	}
}

// eventWatch forwards the events of one streamed answer to the client.
type eventWatch struct {
	call     *call
	rules    *eventRules
	count    float64
	numbered bool // an event had a number, so that events are no longer counted
}

// see forwards one event to the client. The content comes from the service, so secrets of the gateway are redacted and
// texts are cleaned. It returns false if the client has left; whether the call then ends is decided elsewhere.
func (w *eventWatch) see(event []byte) (more bool) {
	r, reply := w.rules, w.call.reply
	if w.call.plan.clean {
		event = answer.CleanData(event)
	}
	if s := w.call.plan.sensitive; s != nil && isObject(event) {
		event = s.Event(event)
	}
	part := answer.Part{Kind: answer.JSON, Data: event}
	if !isObject(event) || w.call.redactor().Part(&part) && part.Kind != answer.JSON {
		return w.counted(nil)
	}
	event = part.Data
	if r.result != "" && hasValue(jsonscan.At(event, r.result)) {
		return true
	}
	said := jsonscan.At(event, r.log)
	if hasValue(said) {
		level, text := w.logged(said)
		if text != "" && reply.Log(level, w.call.plan.Tool.Name, jsonscan.AppendString(nil, text)) != nil {
			return false
		}
	}
	progress, ok := number(jsonscan.At(event, r.progress))
	switch {
	case ok:
		w.numbered = true
		total, _ := number(jsonscan.At(event, r.total))
		return reply.Progress(progress, total, w.words(jsonscan.At(event, r.message))) == nil
	case hasValue(said):
		return true
	}
	return w.counted(event)
}

// counted reports the number of events as the progress, unless an event had a number.
func (w *eventWatch) counted(event []byte) (more bool) {
	if w.numbered || w.rules.exact {
		return true
	}
	w.count++
	return w.call.reply.Progress(w.count, 0, w.words(jsonscan.At(event, w.rules.message))) == nil
}

// logged reads a log message, which is a string, or an object with level and text.
func (w *eventWatch) logged(said []byte) (mcp.Level, string) {
	if jsonscan.KindOf(said) != jsonscan.Object {
		return mcp.LevelInfo, w.words(said)
	}
	level := strings.ToLower(string(jsonscan.Unquote(jsonscan.Lookup(said, "level"))))
	if level == "warn" {
		level = "warning"
	}
	return cmp.Or(mcp.ParseLevel(level), mcp.LevelInfo), w.words(jsonscan.Lookup(said, "text"))
}

// words returns the text of a JSON string of the service, or "" if value is not a string.
func (w *eventWatch) words(value []byte) string {
	if jsonscan.KindOf(value) != jsonscan.String {
		return ""
	}
	// Secrets are redacted once more, since invisible characters may have split one.
	text := w.call.redactor().Text(openapi.Clean(string(jsonscan.Unquote(value))))
	return strings.ToValidUTF8(truncate.Bytes(text, maxEventText), "")
}

func isObject(event []byte) bool {
	if len(event) == 0 || event[0] != '{' {
		return false
	}
	_, err := jsonscan.Scan(event, jsonscan.Options{})
	return err == nil
}

func hasValue(value []byte) bool { return value != nil && jsonscan.KindOf(value) != jsonscan.Null }

func number(value []byte) (n float64, ok bool) {
	if jsonscan.KindOf(value) != jsonscan.Number {
		return 0, false
	}
	n, err := strconv.ParseFloat(string(value), 64)
	return n, err == nil
}
