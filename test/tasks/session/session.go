package session

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"drawbridge/gateway/tokenizer"
)

// Session is an open session. It is not safe for concurrent use.
type Session struct {
	client    *mcp.ClientSession
	transport *http.Transport

	// Calls and Tokens count the calls since the session began, and the tokens of their answers.
	Calls, Tokens int
}

// Answer is what a model reads of the result of a call.
type Answer struct {
	Text    string
	IsError bool
	Tokens  int // of Text, in the encoding o200k_base
}

// Open opens a session at the endpoint.
func Open(ctx context.Context, endpoint string) (*Session, error) {
	transport := &http.Transport{}
	client := mcp.NewClient(&mcp.Implementation{Name: "tasks", Version: "1"}, nil)
	s, err := client.Connect(ctx, &mcp.StreamableClientTransport{
		Endpoint: endpoint, HTTPClient: &http.Client{Transport: transport}, MaxRetries: -1, DisableStandaloneSSE: true,
	}, nil)
	if err != nil {
		transport.CloseIdleConnections()
		return nil, fmt.Errorf("connect to %s: %w", endpoint, err)
	}
	return &Session{client: s, transport: transport}, nil
}

// Close ends the session.
func (s *Session) Close() {
	_ = s.client.Close() // the server forgets a session that is not ended
	s.transport.CloseIdleConnections()
}

// Instructions are what the server says to every model.
func (s *Session) Instructions() string { return s.client.InitializeResult().Instructions }

// Tools returns the tools that the endpoint lists.
func (s *Session) Tools(ctx context.Context) (all []*mcp.Tool, err error) {
	for tool, err := range s.client.Tools(ctx, nil) {
		if err != nil {
			return nil, fmt.Errorf("list the tools: %w", err)
		}
		all = append(all, tool)
	}
	return all, nil
}

// Call calls a tool. A result that says it is an error is an answer, too; the error is one of the protocol.
func (s *Session) Call(ctx context.Context, tool string, arguments any) (Answer, error) {
	result, err := s.client.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		return Answer{}, fmt.Errorf("call %s: %w", tool, err)
	}
	var texts []string
	for _, block := range result.Content {
		if text, ok := block.(*mcp.TextContent); ok {
			texts = append(texts, text.Text)
			continue
		}
		other, err := json.Marshal(block)
		if err != nil {
			return Answer{}, fmt.Errorf("the answer of %s: %w", tool, err)
		}
		texts = append(texts, string(other))
	}
	text := strings.Join(texts, "\n")
	a := Answer{Text: text, IsError: result.IsError, Tokens: tokenizer.Count([]byte(text))}
	s.Calls++
	s.Tokens += a.Tokens
	return a, nil
}
