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

// maxEventText is how much of an event's words a client is told, in bytes: 500 of them and an ellipsis.
const maxEventText = 500 + len(truncate.Ellipsis)

// eventRules say where the events of a streamed answer tell how far the call is, as JSON Pointers. They are immutable.
type eventRules struct {
	progress, total, message, log string
	result                        string // "": the answer is all events
	exact                         bool   // events without a number tell nothing
	hide                          bool
}

// eventRulesOf returns the rules of a setting; nil stands for those that hold without one.
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

// watch has the client told of the events of a streamed answer while they arrive, if it asked to be: of progress by a token,
// of log messages by a level. Nothing is watched else.
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

// result makes its result of a streamed answer that the rules say the place of.
func (c *call) result(part *answer.Part) {
	if rules := c.plan.progress; rules != nil && rules.result != "" {
		part.Result(rules.result)
	}
}

// eventWatch is one streamed answer that is watched.
type eventWatch struct {
	call     *call
	rules    *eventRules
	count    float64
	numbered bool // an event had a number: events are not counted any more
}

// see tells the client of one event. What the event says is the service's: secrets of the gateway go from it, and its words are
// made fit to be read. A client that has left is not told more; whether the call ends with it is decided elsewhere.
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

// counted tells that one more event has come, as long as no event has a number.
func (w *eventWatch) counted(event []byte) (more bool) {
	if w.numbered || w.rules.exact {
		return true
	}
	w.count++
	return w.call.reply.Progress(w.count, 0, w.words(jsonscan.At(event, w.rules.message))) == nil
}

// logged reads a log message: a string, or an object with level and text.
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

// words returns what a JSON string of the service says, "" if it is none.
func (w *eventWatch) words(value []byte) string {
	if jsonscan.KindOf(value) != jsonscan.String {
		return ""
	}
	// Once more without secrets: characters that nobody sees may have stood within one.
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
