package gateway

import (
	"fmt"
	"slices"
	"strings"

	"drawbridge/config"
	"drawbridge/gateway/elicit"
	"drawbridge/gateway/mcp"
	"drawbridge/openapi"
	"drawbridge/openapi/jsonscan"
)

// What a job may ask at once.
const (
	maxQuestions   = 20
	maxQuestionKey = 128 // bytes
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

// read returns what a job wants to know; nothing if it does not ask. refused says why a question is not passed on. hidden
// takes secrets out of texts.
func (q *jobQuestions) read(body []byte, hidden func(string) string) (all []jobQuestion, refused string) {
	if q == nil || body == nil {
		return nil, ""
	}
	add := func(key string, value []byte) {
		if key == "" || len(key) > maxQuestionKey || len(all) == maxQuestions || jsonscan.KindOf(value) != jsonscan.Object ||
			strings.ContainsFunc(key, elicit.Invisible) || slices.ContainsFunc(all, func(known jobQuestion) bool { return known.Key == key }) {
			return
		}
		form, secret := elicit.ServiceForm(jsonscan.At(value, q.schema))
		if secret != "" {
			refused = fmt.Sprintf("the service asks for %q, which looks like a secret, and the user is not asked for that", cutText(elicit.ShownText(secret, maxWord), maxWord))
			return
		}
		text := elicit.ShownText(hidden(openapi.Clean(stringAt(value, q.message))), maxSaid)
		if text == "" {
			text = cutText(hidden(key), maxWord)
		}
		all = append(all, jobQuestion{Key: key, Message: text, Schema: form})
	}
	list := jsonscan.At(body, q.list)
	for value := range jsonscan.Elements(list) {
		add(textAt(value, q.key), value)
	}
	for key, value := range jsonscan.Members(list) {
		add(string(key), value)
	}
	return all, refused
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

// question is what the client is asked, in the name of the tool: of is how that is called. refused says what was wrong with the last
// answer; "": nothing.
func (q *jobQuestion) question(of, refused string) mcp.Question {
	message := of + " asks: " + q.Message
	if refused != "" {
		message += " (The last answer can't be used: " + refused + ")"
	}
	params := jsonscan.AppendString([]byte(`"message":`), message)
	return mcp.Question{Key: q.Key, Kind: mcp.Elicit, Params: append(append(params, `,"requestedSchema":`...), q.Schema...)}
}

// fitting returns the members of an answer that were asked for. The error is for the user.
func (q *jobQuestion) fitting(content []byte) ([]byte, error) {
	return elicit.ServiceAnswer(q.Schema, content)
}

// with adds an answer to the arguments that the request has in any case.
func (q *jobQuestions) with(bound []byte, key string, action mcp.Action, content []byte) []byte {
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
	add(q.actionArgument, jsonscan.AppendString(nil, map[mcp.Action]string{mcp.Accepted: "accept", mcp.Declined: "decline", mcp.Cancelled: "cancel"}[action]))
	if action == mcp.Accepted {
		add(q.contentArgument, content)
	}
	return append(args, '}')
}
