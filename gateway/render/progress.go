package render

import (
	"cmp"
	"strconv"
	"strings"

	"drawbridge/config"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/redact"
	"drawbridge/openapi"
	"drawbridge/openapi/answer"
	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/text"
)

// maxEventText limits the text of an event that a client is sent, in bytes: 500 and an ellipsis.
const maxEventText = 500 + len(text.Ellipsis)

// EventRules locate progress and log messages in the events of a streamed response, as JSON Pointers. They are immutable.
type EventRules struct {
	progress, total, message, log string
	result                        string // "" if all events are the result
	exact                         bool   // events without a number are not reported
	hide                          bool
}

// NewEventRules returns the rules of a setting, or nil, so that the default rules apply.
func NewEventRules(p *config.Progress) *EventRules {
	if !p.On() {
		return nil
	}
	return &EventRules{
		progress: cmp.Or(p.Progress.String(), "/progress"), total: cmp.Or(p.Total.String(), "/total"),
		message: cmp.Or(p.Message.String(), "/message"), log: cmp.Or(p.Log.String(), "/log"),
		result: p.Result.String(), exact: p.Progress != "", hide: p.Hide,
	}
}

// defaultEventRules apply to responses for which the configuration has none.
var defaultEventRules = NewEventRules(&config.Progress{})

// Hide reports whether events are not forwarded to clients. r may be nil.
func (r *EventRules) Hide() bool { return r != nil && r.hide }

// Reduce reduces a streamed response to its result if the rules locate one. r may be nil.
func (r *EventRules) Reduce(part *answer.Part) {
	if r != nil && r.result != "" {
		part.Result(r.result)
	}
}

// Client is told of events. The errors are those of its connection.
type Client interface {
	Progress(progress, total float64, message string) error
	Log(level mcp.Level, logger string, data []byte) error
}

// EventForwarder forwards the events of one streamed response to the client.
type EventForwarder struct {
	Client    Client
	Tool      string
	Rules     *EventRules // nil if the default rules apply
	Redactor  redact.Redactor
	Sensitive *redact.Sensitive // nil if no field is hidden
	Clean     bool              // removes invisible characters from events

	count    float64
	numbered bool // an event had a number, so that events are no longer counted
}

// Forward forwards one event to the client. The content comes from the service, so secrets of the gateway are redacted
// and texts are cleaned. It returns false if the client has left; the caller decides whether the call then ends.
func (f *EventForwarder) Forward(event []byte) (more bool) {
	r := f.rules()
	if f.Clean {
		event = answer.CleanData(event)
	}
	if s := f.Sensitive; s != nil && isObject(event) {
		event = s.Event(event)
	}
	part := answer.Part{Kind: answer.JSON, Data: event}
	if !isObject(event) || f.Redactor.Part(&part) && part.Kind != answer.JSON {
		return f.counted(nil)
	}
	event = part.Data
	if r.result != "" && hasValue(jsonscan.At(event, r.result)) {
		return true
	}
	said := jsonscan.At(event, r.log)
	if hasValue(said) {
		level, text := f.logged(said)
		if text != "" && f.Client.Log(level, f.Tool, jsonscan.AppendString(nil, text)) != nil {
			return false
		}
	}
	progress, ok := number(jsonscan.At(event, r.progress))
	switch {
	case ok:
		f.numbered = true
		total, _ := number(jsonscan.At(event, r.total))
		return f.Client.Progress(progress, total, f.words(jsonscan.At(event, r.message))) == nil
	case hasValue(said):
		return true
	}
	return f.counted(event)
}

func (f *EventForwarder) rules() *EventRules { return cmp.Or(f.Rules, defaultEventRules) }

// counted reports the number of events as the progress, unless an event had a number.
func (f *EventForwarder) counted(event []byte) (more bool) {
	if f.numbered || f.rules().exact {
		return true
	}
	f.count++
	return f.Client.Progress(f.count, 0, f.words(jsonscan.At(event, f.rules().message))) == nil
}

// logged reads a log message, which is a string, or an object with level and text.
func (f *EventForwarder) logged(entry []byte) (mcp.Level, string) {
	if jsonscan.KindOf(entry) != jsonscan.Object {
		return mcp.LevelInfo, f.words(entry)
	}
	level := strings.ToLower(string(jsonscan.Unquote(jsonscan.Lookup(entry, "level"))))
	if level == "warn" {
		level = "warning"
	}
	return cmp.Or(mcp.ParseLevel(level), mcp.LevelInfo), f.words(jsonscan.Lookup(entry, "text"))
}

// words returns the text of a JSON string of the service, or "" if entry is not a string.
func (f *EventForwarder) words(value []byte) string {
	if jsonscan.KindOf(value) != jsonscan.String {
		return ""
	}
	// Secrets are redacted once more, since invisible characters may have split one.
	raw := f.Redactor.Text(openapi.Clean(string(jsonscan.Unquote(value))))
	return strings.ToValidUTF8(text.Truncate(raw, maxEventText), "")
}

// isObject reports whether an event is a JSON object.
func isObject(event []byte) bool {
	if len(event) == 0 || event[0] != '{' {
		return false
	}
	_, err := jsonscan.Scan(event, jsonscan.Options{})
	return err == nil
}

// hasValue reports whether a value is present and not null.
func hasValue(value []byte) bool { return value != nil && jsonscan.KindOf(value) != jsonscan.Null }

// number returns the value of a JSON number.
func number(value []byte) (n float64, ok bool) {
	if jsonscan.KindOf(value) != jsonscan.Number {
		return 0, false
	}
	n, err := strconv.ParseFloat(string(value), 64)
	return n, err == nil
}
