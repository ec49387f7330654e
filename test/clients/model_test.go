package clients

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// model is a chat endpoint as hosts know it (POST /v1/chat/completions), whose choices are a script. It is as strict as the
// ones that are in use: what they refuse, it refuses with 400. It remembers nothing: all that it goes by stands in
// the messages, so it serves several hosts at once.
type model struct{ *httptest.Server }

// script is what a model says next.
type script func(*chatRequest) (chatMessage, error)

type (
	chatRequest struct {
		Model    string        `json:"model"`
		Messages []chatMessage `json:"messages"`
		Tools    []chatTool    `json:"tools"`
	}
	chatMessage struct {
		Role       string     `json:"role"`
		Content    string     `json:"content"`
		ToolCalls  []toolCall `json:"tool_calls,omitempty"`
		ToolCallID string     `json:"tool_call_id,omitempty"`
	}
	toolCall struct {
		ID       string       `json:"id"`
		Type     string       `json:"type"`
		Function functionCall `json:"function"`
	}
	functionCall struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	}
	chatTool struct {
		Type     string       `json:"type"`
		Function chatFunction `json:"function"`
	}
	chatFunction struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	}
)

func newModel(t *testing.T, choose script) *model {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, r *http.Request) {
		var request chatRequest
		err := json.NewDecoder(r.Body).Decode(&request)
		var next chatMessage
		if err == nil {
			if err = request.check(); err == nil {
				next, err = choose(&request)
			}
		}
		w.Header().Set("Content-Type", "application/json")
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]string{"message": err.Error(), "type": "invalid_request_error"}})
			return
		}
		reason := "stop"
		if next.ToolCalls != nil {
			reason = "tool_calls"
		}
		_ = json.NewEncoder(w).Encode(map[string]any{
			"object": "chat.completion", "model": request.Model,
			"choices": []any{map[string]any{"index": 0, "message": next, "finish_reason": reason}},
		})
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return &model{server}
}

var functionName = regexp.MustCompile(`\A[a-zA-Z0-9_-]{1,64}\z`)

// check holds a request against what chat endpoints demand of tools and of the order of messages.
func (r *chatRequest) check() error {
	if len(r.Tools) > 128 {
		return fmt.Errorf("%d tools, 128 are allowed", len(r.Tools))
	}
	for _, tool := range r.Tools {
		var parameters struct{ Type string }
		if err := json.Unmarshal(tool.Function.Parameters, &parameters); err != nil || parameters.Type != "object" {
			return fmt.Errorf("parameters of %q: %s", tool.Function.Name, tool.Function.Parameters)
		}
		if tool.Type != "function" || !functionName.MatchString(tool.Function.Name) || len(tool.Function.Description) > 1024 {
			return fmt.Errorf("tool %q is none", tool.Function.Name)
		}
	}
	var open []string // calls that are not answered
	for i, m := range r.Messages {
		if m.Role == "tool" {
			at := slices.Index(open, m.ToolCallID)
			if at < 0 {
				return fmt.Errorf("message %d answers %q, which is no call", i, m.ToolCallID)
			}
			open = slices.Delete(open, at, at+1)
			continue
		}
		if len(open) > 0 {
			return fmt.Errorf("message %d comes before the answers to %q", i, open)
		}
		for _, call := range m.ToolCalls {
			open = append(open, call.ID)
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("calls %q have no answers", open)
	}
	return nil
}

// orderThing is a script: look for things, look at the last of them, order what comes next to it in its colour, look at the
// order, say what has become of it. Each call uses what the answer before it says.
func orderThing(request *chatRequest) (chatMessage, error) {
	var answers []map[string]any
	for _, m := range request.Messages {
		if m.Role != "tool" {
			continue
		}
		var answer map[string]any
		if err := json.Unmarshal([]byte(m.Content), &answer); err != nil {
			return chatMessage{}, fmt.Errorf("the answer of a tool is no JSON object: %q", m.Content)
		}
		answers = append(answers, answer)
	}
	text := func(key string) string {
		value, _ := answers[len(answers)-1][key].(string)
		return value
	}
	use := func(name string, args map[string]string) (chatMessage, error) {
		for key, value := range args {
			if value == "" {
				return chatMessage{}, fmt.Errorf("the answer before %s has no %s: %v", name, key, answers[len(answers)-1])
			}
		}
		return callFunction(len(answers), name, args)
	}
	switch len(answers) {
	case 0:
		return use("listThings", nil)
	case 1:
		things, _ := answers[0]["things"].([]any)
		if len(things) == 0 {
			return chatMessage{}, errors.New("there are no things")
		}
		last, _ := things[len(things)-1].(map[string]any)
		id, _ := last["id"].(string)
		return use("getThing", map[string]string{"id": id})
	case 2:
		return use("placeOrder", map[string]string{"thing": text("next"), "colour": text("colour")})
	case 3:
		return use("getOrder", map[string]string{"order": text("order")})
	default:
		return chatMessage{Role: "assistant", Content: fmt.Sprintf("Your order %s is %s.", text("order"), text("state"))}, nil
	}
}

// callFunction returns the message with which a model calls a function in one of its turns.
func callFunction[A any](turn int, name string, args A) (chatMessage, error) {
	b, err := json.Marshal(args)
	id := fmt.Sprintf("call_%d", turn)
	return chatMessage{Role: "assistant", ToolCalls: []toolCall{{id, "function", functionCall{name, string(b)}}}}, err
}

// said tells whether that is what the model says at the end.
func said(answer string) bool {
	return strings.HasPrefix(answer, "Your order O-") && strings.HasSuffix(answer, " is packed.")
}
