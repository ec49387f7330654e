package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"

	"drawbridge/test/tasks/session"
)

// patience is the most calls that a model may make for a task.
const patience = 30

// model is a model behind an OpenAI-compatible API.
type model struct {
	url, key, name string
}

type chatMessage struct {
	Role       string     `json:"role"`
	Content    string     `json:"content"`
	ToolCalls  []chatCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
}

type chatCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

type chatTool struct {
	Type     string       `json:"type"`
	Function chatFunction `json:"function"`
}

type chatFunction struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Parameters  any    `json:"parameters"`
}

// askModel has a model do the tasks. Each is a conversation of its own.
func (w *world) askModel(ctx context.Context, url string, all []*task) error {
	m := &model{url: strings.TrimSuffix(url, "/"), key: os.Getenv("MODEL_KEY"), name: os.Getenv("MODEL_NAME")}
	var done []outcome
	for _, t := range all {
		o, err := w.converse(ctx, m, t)
		if err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
		fmt.Printf("%s: %d calls, %d tokens, %d faults\n", o.task, o.calls, o.tokens, len(o.faults))
		done = append(done, o)
	}
	return report(os.Stdout, "model "+m.name, done)
}

// converse prepares a task, has the model do it, and judges what became of it.
func (w *world) converse(ctx context.Context, m *model, t *task) (outcome, error) {
	v, err := w.prepare(ctx, t)
	if err != nil {
		return outcome{}, err
	}
	text, err := v.text(t.text)
	if err != nil {
		return outcome{}, err
	}
	s, err := session.Open(ctx, w.endpoint)
	if err != nil {
		return outcome{}, err
	}
	defer s.Close()
	answer, err := m.do(ctx, s, text)
	if err != nil {
		return outcome{}, err
	}
	return outcome{task: t.name, calls: s.Calls, tokens: s.Tokens, faults: w.judge(ctx, t, v, answer)}, nil
}

// do shows the model a task and the tools of a session, makes the calls that it chooses until it says something, and returns what it says.
func (m *model) do(ctx context.Context, s *session.Session, text string) (answer string, err error) {
	list, err := s.Tools(ctx)
	if err != nil {
		return "", err
	}
	var tools []chatTool
	for _, tool := range list {
		tools = append(tools, chatTool{"function", chatFunction{tool.Name, tool.Description, tool.InputSchema}})
	}
	messages := []chatMessage{{Role: "system", Content: s.Instructions()}, {Role: "user", Content: text}}
	for s.Calls < patience {
		next, err := m.chat(ctx, messages, tools)
		if err != nil {
			return "", err
		}
		messages = append(messages, next)
		if answer = next.Content; len(next.ToolCalls) == 0 {
			break
		}
		for _, call := range next.ToolCalls {
			messages = append(messages, chatMessage{Role: "tool", ToolCallID: call.ID, Content: called(ctx, s, call)})
		}
	}
	return answer, nil
}

// called makes a call that a model chooses, and returns what the model reads of it.
func called(ctx context.Context, s *session.Session, call chatCall) string {
	arguments := json.RawMessage(call.Function.Arguments)
	if !json.Valid(arguments) {
		return "the arguments are not JSON"
	}
	answer, err := s.Call(ctx, call.Function.Name, arguments)
	if err != nil {
		return err.Error()
	}
	return answer.Text
}

// chat returns what the model says next.
func (m *model) chat(ctx context.Context, messages []chatMessage, tools []chatTool) (chatMessage, error) {
	body, err := json.Marshal(map[string]any{"model": m.name, "messages": messages, "tools": tools})
	if err != nil {
		return chatMessage{}, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, m.url+"/chat/completions", bytes.NewReader(body))
	if err != nil {
		return chatMessage{}, err
	}
	r.Header.Set("Content-Type", "application/json")
	if m.key != "" {
		r.Header.Set("Authorization", "Bearer "+m.key)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return chatMessage{}, err
	}
	defer response.Body.Close()
	var answer struct {
		Choices []struct {
			Message chatMessage `json:"message"`
		} `json:"choices"`
		Error json.RawMessage `json:"error"`
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return chatMessage{}, fmt.Errorf("%s: %s: %w", m.url, response.Status, err)
	}
	if len(answer.Choices) == 0 {
		return chatMessage{}, fmt.Errorf("%s: %s: no choices: %.300s", m.url, response.Status, answer.Error)
	}
	return answer.Choices[0].Message, nil
}
