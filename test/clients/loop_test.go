package clients

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func (c *goClient) loop(ctx context.Context) error {
	answer, err := agentLoop(ctx, c.w.model, "Order what comes after the last thing.", c.session)
	if err == nil && !said(answer) {
		err = fmt.Errorf("the model has said %q", answer)
	}
	return err
}

// agentLoop is what a host does: it shows the model the tools, and makes the calls that it chooses until it says something,
// which is returned.
func agentLoop(ctx context.Context, m *model, question string, session *mcp.ClientSession) (string, error) {
	list, err := session.ListTools(ctx, nil)
	if err != nil {
		return "", err
	}
	request := chatRequest{Model: "script", Messages: []chatMessage{{Role: "user", Content: question}}}
	for _, tool := range list.Tools {
		parameters, err := json.Marshal(tool.InputSchema)
		if err != nil {
			return "", err
		}
		request.Tools = append(request.Tools, chatTool{"function", chatFunction{tool.Name, tool.Description, parameters}})
	}
	for range 10 {
		next, err := m.chat(ctx, request)
		if err != nil {
			return "", err
		}
		request.Messages = append(request.Messages, next)
		if len(next.ToolCalls) == 0 {
			return next.Content, nil
		}
		for _, call := range next.ToolCalls {
			result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: call.Function.Name, Arguments: json.RawMessage(call.Function.Arguments)})
			if err != nil {
				return "", err
			}
			request.Messages = append(request.Messages, chatMessage{Role: "tool", Content: textOf(result), ToolCallID: call.ID})
		}
	}
	return "", fmt.Errorf("the model does not come to an end: %v", request.Messages)
}

// textOf returns the texts of a result.
func textOf(result *mcp.CallToolResult) string {
	var texts []string
	for _, block := range result.Content {
		if text, ok := block.(*mcp.TextContent); ok {
			texts = append(texts, text.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// chat asks the model.
func (m *model) chat(ctx context.Context, request chatRequest) (chatMessage, error) {
	body, err := json.Marshal(request)
	if err != nil {
		return chatMessage{}, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, m.URL+"/v1/chat/completions", bytes.NewReader(body))
	if err != nil {
		return chatMessage{}, err
	}
	resp, err := m.Client().Do(r)
	if err != nil {
		return chatMessage{}, err
	}
	defer resp.Body.Close()
	var answer struct {
		Choices []struct{ Message chatMessage }
		Error   struct{ Message string }
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return chatMessage{}, err
	}
	if len(answer.Choices) == 0 {
		return chatMessage{}, fmt.Errorf("the model: %s: %s", resp.Status, answer.Error.Message)
	}
	return answer.Choices[0].Message, nil
}
