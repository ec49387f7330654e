package job

import (
	"fmt"
	"slices"
	"strings"

	"drawbridge/config"
	"drawbridge/gateway/elicit"
	"drawbridge/gateway/mcp"
	"drawbridge/openapi"
	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/text"
)

// Limits of the questions that a job may ask at once.
const (
	maxQuestions   = 20
	MaxQuestionKey = 128 // bytes
)

// Questions describes how jobs ask the user. It is immutable.
type Questions struct {
	// Answer is the request that sends the service an answer.
	Answer *Request

	list, key, message, schema string // JSON Pointers
	// arguments of Answer for the parts of an answer; "" if a part is not sent
	keyArgument, actionArgument, contentArgument string
}

// Question is a question of a job to the user, in the form in which a task keeps it.
type Question struct {
	Key     string `json:"k"`
	Message string `json:"m"`
	Schema  []byte `json:"s"`
}

func newQuestions(c *config.JobQuestions, find Finder) (*Questions, error) {
	q := &Questions{
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
	q.Answer, err = newRequest(&config.JobOperation{Operation: c.Answer.Operation, Bind: c.Answer.Bind}, find, own...)
	return q, err
}

// read returns the questions in a body. refused is the reason why a question is not passed on, or "". redact removes secrets from
// texts.
func (q *Questions) read(body []byte, redact func(string) string) (all []Question, refused string) {
	if q == nil || body == nil {
		return nil, ""
	}
	add := func(key string, value []byte) {
		if key == "" || len(key) > MaxQuestionKey || len(all) == maxQuestions || jsonscan.KindOf(value) != jsonscan.Object ||
			strings.ContainsFunc(key, elicit.Invisible) || slices.ContainsFunc(all, func(known Question) bool { return known.Key == key }) {
			return
		}
		form, secret := elicit.ServiceForm(jsonscan.At(value, q.schema))
		if secret != "" {
			refused = fmt.Sprintf("the service asks for %q, which looks like a secret, and the user is not asked for that", elicit.ShownText(secret, MaxWord))
			return
		}
		raw := elicit.ShownText(redact(openapi.Clean(jsonscan.StringAt(value, q.message))), maxMessage)
		if raw == "" {
			raw = text.Truncate(redact(key), MaxWord)
		}
		all = append(all, Question{Key: key, Message: raw, Schema: form})
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

// textAt returns the string or number at a pointer, or "".
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

// Elicit returns the request to the client. subject names the tool that asks. refused is the fault of the last answer, or "".
func (q *Question) Elicit(subject, refused string) mcp.InputRequest {
	message := subject + " asks: " + q.Message
	if refused != "" {
		message += " (The last answer can't be used: " + refused + ")"
	}
	params := jsonscan.AppendString([]byte(`"message":`), message)
	return mcp.InputRequest{Key: q.Key, Kind: mcp.ElicitForm, Params: append(append(params, `,"requestedSchema":`...), q.Schema...)}
}

// Validate returns the members of an answer that the question asks for. The error is for the user.
func (q *Question) Validate(content []byte) ([]byte, error) {
	return elicit.ServiceAnswer(q.Schema, content)
}

// CanRefuse reports whether the service can be told that the user declined.
func (q *Questions) CanRefuse() bool { return q.actionArgument != "" }

// AnswerArguments adds an answer to the arguments that the request has in any case.
func (q *Questions) AnswerArguments(bound []byte, key string, action mcp.Action, content []byte) []byte {
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
