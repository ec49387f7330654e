package main

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"drawbridge/test/tasks/session"
)

// TestModel has a scripted model call a tool, with arguments that are no JSON first, and checks what it reads and what is counted.
func TestModel(t *testing.T) {
	type amount struct{ N int }
	server := mcp.NewServer(&mcp.Implementation{Name: "numbers", Version: "1"}, &mcp.ServerOptions{Instructions: "Double with double."})
	mcp.AddTool(server, &mcp.Tool{Name: "double"}, func(_ context.Context, _ *mcp.CallToolRequest, in amount) (*mcp.CallToolResult, any, error) {
		text, err := json.Marshal(2 * in.N)
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(text)}}}, nil, err
	})
	endpoint := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil))
	defer endpoint.Close()
	s, err := session.Open(t.Context(), endpoint.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()

	var read []chatMessage
	says := []string{
		`{"tool_calls": [{"id": "1", "type": "function", "function": {"name": "double", "arguments": "21"}}, {"id": "2", "type": "function", "function": {"name": "double", "arguments": "{n"}}]}`,
		`{"tool_calls": [{"id": "3", "type": "function", "function": {"name": "double", "arguments": "{\"N\": 21}"}}]}`,
		`{"content": "It is 42."}`,
	}
	scripted := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var request struct {
			Model    string
			Messages []chatMessage
			Tools    []chatTool
		}
		if err := json.NewDecoder(r.Body).Decode(&request); err != nil || r.URL.Path != "/v1/chat/completions" {
			t.Errorf("%s: %v", r.URL, err)
		}
		if r.Header.Get("Authorization") != "Bearer key" || request.Model != "small" || len(request.Tools) != 1 || request.Tools[0].Function.Name != "double" {
			t.Errorf("the request is %+v", request)
		}
		read = request.Messages
		_, _ = w.Write([]byte(`{"choices": [{"message": ` + says[0] + `}]}`)) // the client sees what comes
		says = says[1:]
	}))
	defer scripted.Close()
	m := &model{url: scripted.URL + "/v1", key: "key", name: "small"}
	answer, err := m.do(t.Context(), s, "Double 21.")
	http.DefaultClient.CloseIdleConnections()
	if err != nil || answer != "It is 42." {
		t.Fatalf("the answer is %q: %v", answer, err)
	}
	var roles, contents []string
	for _, message := range read {
		roles, contents = append(roles, message.Role), append(contents, message.Content)
	}
	if len(read) != 7 || read[0].Content != "Double with double." || read[1].Content != "Double 21." || read[4].Content != "the arguments are not JSON" || read[6].Content != "42" {
		t.Errorf("the model has read %q, %q", roles, contents)
	}
	if s.Calls < 1 || s.Tokens < 1 {
		t.Errorf("counted are %d calls with %d tokens", s.Calls, s.Tokens)
	}
}

// TestModelRefuses returns what a server says that has no answer.
func TestModelRefuses(t *testing.T) {
	scripted := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte(`{"error": {"message": "no key"}}`)) // the client sees what comes
	}))
	defer scripted.Close()
	_, err := (&model{url: scripted.URL}).chat(t.Context(), nil, nil)
	http.DefaultClient.CloseIdleConnections()
	if want := scripted.URL + `: 401 Unauthorized: no choices: {"message": "no key"}`; err == nil || err.Error() != want {
		t.Errorf("the error is %v, expected %s", err, want)
	}
}
