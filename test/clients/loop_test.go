package clients

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// loop is what a host does: it shows the model the tools, and makes the calls that it chooses until it says something.
func (c *goClient) loop(ctx context.Context) error {
	list, err := c.session.ListTools(ctx, nil)
	if err != nil {
		return err
	}
	request := chatRequest{Model: "script", Messages: []chatMessage{{Role: "user", Content: "Order what comes after the last thing."}}}
	for _, tool := range list.Tools {
		parameters, err := json.Marshal(tool.InputSchema)
		if err != nil {
			return err
		}
		request.Tools = append(request.Tools, chatTool{"function", chatFunction{tool.Name, tool.Description, parameters}})
	}
	for range 10 {
		next, err := c.chat(ctx, request)
		if err != nil {
			return err
		}
		request.Messages = append(request.Messages, next)
		if len(next.ToolCalls) == 0 {
			if !said(next.Content) {
				return fmt.Errorf("the model has said %q", next.Content)
			}
			return nil
		}
		for _, call := range next.ToolCalls {
			result, err := c.session.CallTool(ctx, &mcp.CallToolParams{Name: call.Function.Name, Arguments: json.RawMessage(call.Function.Arguments)})
			if err != nil {
				return err
			}
			content := ""
			for _, block := range result.Content {
				if text, ok := block.(*mcp.TextContent); ok {
					content += text.Text
				}
			}
			request.Messages = append(request.Messages, chatMessage{Role: "tool", Content: content, ToolCallID: call.ID})
		}
	}
	return fmt.Errorf("the model does not come to an end: %v", request.Messages)
}

// chat asks the model.
func (c *goClient) chat(ctx context.Context, request chatRequest) (chatMessage, error) {
	body, err := json.Marshal(request)
	if err != nil {
		return chatMessage{}, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.w.model.URL+"/v1/chat/completions", bytes.NewReader(body))
	if err != nil {
		return chatMessage{}, err
	}
	resp, err := c.w.model.Client().Do(r)
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
