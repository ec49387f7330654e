package clients

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// searchClient is a session of the Go SDK's client at a gateway in search mode.
type searchClient struct {
	w        *issues
	column   string
	revision string
	session  *mcp.ClientSession
}

// searchTools are the tools that the list shows in place of all others.
var searchTools = []string{"search_tools", "describe_tools", "read_tool", "call_tool"}

// searchGoColumn fills in the column of the Go SDK in a revision.
func searchGoColumn(t *testing.T, w *issues, tb *table, column, revision string) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	session, closeSession, err := goSession(ctx, w.endpoint, revision, nil)
	if err != nil {
		t.Fatalf("%s: %v", column, err)
	}
	defer closeSession()
	c := &searchClient{w: w, column: column, revision: revision, session: session}
	for _, f := range []struct {
		feature string
		try     func(context.Context) error
	}{
		{"instructions", c.instructions}, {"four tools", c.fourTools}, {"search_tools", c.search}, {"describe_tools", c.describe},
		{"read_tool refuses", c.refused}, {"call_tool", c.call}, {"call by name", c.byName}, {"chosen tools", c.chosen}, {"agent loop", c.loop},
	} {
		tb.try(t, column, f.feature, func() error { return f.try(ctx) })
	}
}

// called calls a tool and returns the text of its answer.
func (c *searchClient) called(ctx context.Context, name string, args map[string]any) (text string, isError bool, err error) {
	result, err := c.session.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		return "", false, err
	}
	return textOf(result), result.IsError, nil
}

// title returns the title of the issue that a feature creates.
func (c *searchClient) title(feature string) string { return c.column + ": " + feature }

// newIssue returns the arguments of issues_create.
func (c *searchClient) newIssue(title string) map[string]any {
	return map[string]any{"owner": "octo", "repo": "hello", "body": map[string]any{"title": title}}
}

func (c *searchClient) instructions(context.Context) error {
	text := c.session.InitializeResult().Instructions
	for _, name := range searchTools {
		if !strings.Contains(text, name) {
			return fmt.Errorf("%s is not in the instructions %q", name, text)
		}
	}
	return nil
}

func (c *searchClient) fourTools(ctx context.Context) error {
	names, err := toolNames(ctx, c.session)
	if err == nil && !slices.Equal(names, searchTools) {
		err = fmt.Errorf("tools: %q", names)
	}
	return err
}

func (c *searchClient) search(ctx context.Context) error {
	text, isError, err := c.called(ctx, "search_tools", map[string]any{"query": "create an issue"})
	if err == nil && (isError || !strings.HasPrefix(text, "issues_create(owner: string, repo: string, title: ")) {
		err = fmt.Errorf("answer: %s", text)
	}
	return err
}

func (c *searchClient) describe(ctx context.Context) error {
	text, isError, err := c.called(ctx, "describe_tools", map[string]any{"names": []string{"issues_create"}, "format": "schema"})
	if err != nil || isError {
		return fmt.Errorf("answer: %s, %w", text, err)
	}
	var definition struct {
		Name        string
		InputSchema struct{ Required []string }
	}
	if err := json.Unmarshal([]byte(text), &definition); err != nil {
		return err
	}
	if required := definition.InputSchema.Required; definition.Name != "issues_create" || !slices.Equal(slices.Sorted(slices.Values(required)), []string{"owner", "repo", "title"}) {
		return fmt.Errorf("answer: %s", text)
	}
	return nil
}

func (c *searchClient) refused(ctx context.Context) error {
	title := c.title("refused")
	text, isError, err := c.called(ctx, "read_tool", map[string]any{"name": "issues_create", "arguments": c.newIssue(title)})
	if err != nil {
		return err
	}
	if !isError || !strings.HasPrefix(text, "issues_create is not read-only") {
		return fmt.Errorf("answer: %s", text)
	}
	if numbers := c.w.titled(title); len(numbers) > 0 {
		return errors.New("the service has received the call")
	}
	return nil
}

func (c *searchClient) call(ctx context.Context) error {
	title := c.title("call_tool")
	text, isError, err := c.called(ctx, "call_tool", map[string]any{"name": "issues_create", "arguments": c.newIssue(title)})
	if err != nil {
		return err
	}
	return c.created(title, text, isError)
}

func (c *searchClient) byName(ctx context.Context) error {
	title := c.title("by name")
	text, isError, err := c.called(ctx, "issues_create", c.newIssue(title))
	if err != nil {
		return err
	}
	return c.created(title, text, isError)
}

// created returns an error unless an answer has the one issue that was created with a title.
func (c *searchClient) created(title, text string, isError bool) error {
	numbers := c.w.titled(title)
	if len(numbers) != 1 {
		return fmt.Errorf("issues %d, answer: %s", numbers, text)
	}
	var answer issue
	if err := json.Unmarshal([]byte(text), &answer); err != nil || isError || answer.Number != numbers[0] || answer.Title != title {
		return fmt.Errorf("issue %d, answer: %s", numbers[0], text)
	}
	return nil
}

// chosen connects with a query, by which the client chooses what the list shows.
func (c *searchClient) chosen(ctx context.Context) error {
	session, closeSession, err := goSession(ctx, c.w.endpoint+"?presentation=all&tools=issues_*", c.revision, nil)
	if err != nil {
		return err
	}
	defer closeSession()
	names, err := toolNames(ctx, session)
	if err != nil {
		return err
	}
	other := slices.ContainsFunc(names, func(name string) bool { return !strings.HasPrefix(name, "issues_") })
	if other || !slices.Contains(names, "issues_create") || !slices.Contains(names, "issues_list") {
		return fmt.Errorf("tools: %q", names)
	}
	if text := session.InitializeResult().Instructions; text != "" {
		return fmt.Errorf("instructions: %q", text)
	}
	return nil
}

func (c *searchClient) loop(ctx context.Context) error {
	title := c.title("agent loop")
	answer, err := agentLoop(ctx, c.w.model, "File an issue in "+repository+": "+title, c.session)
	if err != nil {
		return err
	}
	if numbers := c.w.titled(title); len(numbers) != 1 || answer != fmt.Sprintf("Issue #%d is filed.", numbers[0]) {
		return fmt.Errorf("issues %d, the model has said %q", numbers, answer)
	}
	return nil
}
