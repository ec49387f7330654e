package gateway

import (
	"slices"

	"drawbridge/config"
	"drawbridge/gateway/mcp"
	"drawbridge/openapi"
	"drawbridge/openapi/jsonscan"
)

// What a job may ask at once.
const (
	maxQuestions      = 20
	maxQuestionKey    = 128     // bytes
	maxQuestionSchema = 8 << 10 // bytes
	maxQuestionFields = 50
)

// jobQuestions say how the jobs of a plan ask the user. They are immutable.
type jobQuestions struct {
	list, key, message, schema string
	answer                     *jobRequest
	// arguments of answer for the parts of an answer; "": that part is not sent
	keyArgument, actionArgument, contentArgument string
}

// jobQuestion is something that a job wants to know.
type jobQuestion struct {
	Key     string `json:"k"`
	Message string `json:"m"`
	Schema  []byte `json:"s"`
}

func newJobQuestions(c *config.JobQuestions, find finder) (*jobQuestions, error) {
	q := &jobQuestions{
		list: c.List.String(), key: c.Key.String(), message: c.Message.String(), schema: c.Schema.String(),
		keyArgument: c.Answer.Key, actionArgument: c.Answer.Action, contentArgument: c.Answer.Content,
	}
	var own []string
	for _, argument := range []string{q.keyArgument, q.actionArgument, q.contentArgument} {
		if argument != "" {
			own = append(own, argument)
		}
	}
	var err error
	q.answer, err = newJobRequest(&config.JobOperation{Operation: c.Answer.Operation, Bind: c.Answer.Bind}, find, own...)
	return q, err
}

// read returns what a job wants to know; nothing if it does not ask. hidden takes secrets out of texts.
func (q *jobQuestions) read(body []byte, hidden func(string) string) (all []jobQuestion) {
	if q == nil || body == nil {
		return nil
	}
	add := func(key string, value []byte) {
		if key == "" || len(key) > maxQuestionKey || len(all) == maxQuestions || jsonscan.KindOf(value) != jsonscan.Object ||
			slices.ContainsFunc(all, func(known jobQuestion) bool { return known.Key == key }) {
			return
		}
		text := cutText(oneLine(hidden(openapi.Clean(stringAt(value, q.message)))), maxSaid)
		if text == "" {
			text = "The job wants to know: " + cutText(oneLine(openapi.Clean(key)), maxWord)
		}
		all = append(all, jobQuestion{Key: key, Message: text, Schema: jobForm(jsonscan.At(value, q.schema))})
	}
	list := jsonscan.At(body, q.list)
	for value := range jsonscan.Elements(list) {
		add(textAt(value, q.key), value)
	}
	for key, value := range jsonscan.Members(list) {
		add(string(key), value)
	}
	return all
}

// textAt returns the text or number at a place, "" if there is none.
func textAt(data []byte, pointer string) string {
	switch v := jsonscan.At(data, pointer); jsonscan.KindOf(v) {
	case jsonscan.String:
		return string(jsonscan.Unquote(v))
	case jsonscan.Number:
		return string(v)
	default:
		return ""
	}
}

// anyForm is the form for a question that brings none that a client can show.
const anyForm = `{"type":"object","properties":{"answer":{"type":"string","title":"Answer"}},"required":["answer"]}`

// jobForm returns the schema of a form if it is one that clients can show (mcp-E8): an object without other objects in it.
func jobForm(schema []byte) []byte {
	properties := jsonscan.Lookup(schema, "properties")
	if jsonscan.KindOf(schema) != jsonscan.Object || len(schema) > maxQuestionSchema || stringAt(schema, "/type") != "object" || jsonscan.KindOf(properties) != jsonscan.Object {
		return []byte(anyForm)
	}
	n := 0
	for _, field := range jsonscan.Members(properties) {
		n++
		ok := false
		switch stringAt(field, "/type") {
		case "string", "number", "integer", "boolean":
			ok = true
		case "array": // several choices
			items := jsonscan.Lookup(field, "items")
			ok = jsonscan.Lookup(items, "enum") != nil || jsonscan.Lookup(items, "anyOf") != nil
		}
		if !ok || n > maxQuestionFields {
			return []byte(anyForm)
		}
	}
	return jsonscan.AppendCompact(nil, schema)
}

// question is what the client is asked.
func (q *jobQuestion) question() mcp.Question {
	params := jsonscan.AppendString([]byte(`"message":`), q.Message)
	return mcp.Question{Key: q.Key, Kind: mcp.Elicit, Params: append(append(params, `,"requestedSchema":`...), q.Schema...)}
}

// with adds an answer to the arguments that the request has in any case.
func (q *jobQuestions) with(bound []byte, key string, a mcp.Answer) []byte {
	args := append([]byte(nil), bound[:len(bound)-1]...)
	add := func(argument string, value []byte) {
		if argument == "" {
			return
		}
		if len(args) > 1 {
			args = append(args, ',')
		}
		args = append(append(jsonscan.AppendString(args, argument), ':'), value...)
	}
	add(q.keyArgument, jsonscan.AppendString(nil, key))
	add(q.actionArgument, jsonscan.AppendString(nil, map[mcp.Action]string{mcp.Accepted: "accept", mcp.Declined: "decline", mcp.Cancelled: "cancel"}[a.Action]))
	if a.Action == mcp.Accepted {
		content := a.Value
		if content == nil {
			content = []byte("{}")
		}
		add(q.contentArgument, content)
	}
	return append(args, '}')
}
