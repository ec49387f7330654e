package clients

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// goClient is a session of the Go SDK's client, and what it was told.
type goClient struct {
	w        *world
	revision string
	session  *mcp.ClientSession
	changed  chan struct{}
	progress chan *mcp.ProgressNotificationParams
	updated  chan string
}

// missing is the error of a feature that the client does not have.
type missing struct{ why string }

func (m missing) Error() string { return m.why }

// goSDK fills in the column of the Go SDK in a revision.
func goSDK(revision string) func(t *testing.T, w *world, tb *table, column string) {
	return func(t *testing.T, w *world, tb *table, column string) { goColumn(t, w, tb, column, revision) }
}

func goColumn(t *testing.T, w *world, tb *table, column, revision string) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := &goClient{
		w: w, revision: revision, changed: make(chan struct{}, 100),
		progress: make(chan *mcp.ProgressNotificationParams, 100), updated: make(chan string, 100),
	}
	session, closeSession, err := goSession(ctx, w.endpoint, revision, &mcp.ClientOptions{
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { c.changed <- struct{}{} },
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			c.progress <- r.Params
		},
		ResourceUpdatedHandler: func(_ context.Context, r *mcp.ResourceUpdatedNotificationRequest) { c.updated <- r.Params.URI },
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"colour": "green"}}, nil
		},
	})
	if err != nil {
		t.Fatalf("%s: %v", column, err)
	}
	defer closeSession()
	c.session = session
	for _, f := range []struct {
		feature string
		try     func(context.Context) error
	}{
		{"list", c.list}, {"call", c.call}, {"job", c.job}, {"argument in a header", c.header}, {"progress", c.steps}, {"cancel", c.cancel}, {"question", c.question},
		{"list changed", c.listChanged},
		{"list resources", c.resources}, {"list templates", c.templates}, {"read", c.read}, {"subscribe", c.subscribe},
		{"prompts", c.prompts}, {"completion", c.complete}, {"agent loop", c.loop},
	} {
		tb.try(t, column, f.feature, func() error { return f.try(ctx) })
	}
}

// goSession connects the Go SDK's client to an endpoint. The session has to be closed.
func goSession(ctx context.Context, endpoint, revision string, options *mcp.ClientOptions) (session *mcp.ClientSession, closeSession func(), err error) {
	transport := &http.Transport{}
	client := mcp.NewClient(&mcp.Implementation{Name: "clients", Version: "1"}, options)
	session, err = client.Connect(ctx, &mcp.StreamableClientTransport{
		Endpoint: endpoint, HTTPClient: &http.Client{Transport: transport}, MaxRetries: -1,
	}, &mcp.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		transport.CloseIdleConnections()
		return nil, nil, fmt.Errorf("connect: %w", err)
	}
	closeSession = func() {
		_ = session.Close()
		transport.CloseIdleConnections()
	}
	if got := session.InitializeResult().ProtocolVersion; got != revision {
		closeSession()
		return nil, nil, fmt.Errorf("agreed on %q", got)
	}
	return session, closeSession, nil
}

func (c *goClient) names(ctx context.Context) ([]string, error) { return toolNames(ctx, c.session) }

// toolNames returns the names of the tools in the first page of the list.
func toolNames(ctx context.Context, session *mcp.ClientSession) ([]string, error) {
	list, err := session.ListTools(ctx, nil)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	return names, nil
}

// called calls a tool and returns the text of its answer.
func (c *goClient) called(ctx context.Context, params *mcp.CallToolParams) (string, error) {
	result, err := c.session.CallTool(ctx, params)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(result.Content)
	if result.IsError && err == nil {
		err = errors.New("isError")
	}
	return string(text), err
}

func (c *goClient) list(ctx context.Context) error {
	names, err := c.names(ctx)
	if err == nil && !slices.Contains(names, "getThing") {
		err = fmt.Errorf("tools: %q", names)
	}
	return err
}

func (c *goClient) call(ctx context.Context) error {
	text, err := c.called(ctx, &mcp.CallToolParams{Name: "getThing", Arguments: map[string]any{"id": "T-1"}})
	if err == nil && !strings.Contains(text, "T-2") {
		err = fmt.Errorf("answer: %s", text)
	}
	return err
}

func (c *goClient) job(ctx context.Context) error {
	text, err := c.called(ctx, &mcp.CallToolParams{Name: "makeReport"})
	if err == nil && !strings.Contains(text, "pages") {
		err = fmt.Errorf("answer: %s", text)
	}
	return err
}

func (c *goClient) header(ctx context.Context) error {
	text, err := c.called(ctx, &mcp.CallToolParams{Name: "getStock", Arguments: map[string]any{"region": "Übersee"}})
	if err == nil && !strings.Contains(text, "stock of Übersee") {
		err = fmt.Errorf("answer: %s", text)
	}
	return err
}

func (c *goClient) cancel(ctx context.Context) error {
	one, giveUp := context.WithCancel(ctx)
	defer giveUp()
	done := make(chan error, 1)
	go func() {
		_, err := c.session.CallTool(one, &mcp.CallToolParams{Name: "slow"})
		done <- err
	}()
	if err := await(ctx, c.w.slow); err != nil {
		return fmt.Errorf("the call has not arrived: %w", err)
	}
	giveUp()
	if err := await(ctx, c.w.gone); err != nil {
		return fmt.Errorf("the service still works on it: %w", err)
	}
	select {
	case err := <-done:
		if !errors.Is(err, context.Canceled) {
			return fmt.Errorf("the call: %w", err)
		}
	case <-ctx.Done():
		return fmt.Errorf("the call goes on: %w", ctx.Err())
	}
	return nil
}

func (c *goClient) listChanged(ctx context.Context) error {
	before, err := c.names(ctx)
	if err != nil {
		return err
	}
	if err := c.w.change(); err != nil {
		return err
	}
	if err := await(ctx, c.changed); err != nil {
		return fmt.Errorf("nobody has told of the change: %w", err)
	}
	after, err := c.names(ctx)
	if err == nil && slices.Contains(before, "another") == slices.Contains(after, "another") {
		err = fmt.Errorf("before %q, after %q", before, after)
	}
	return err
}

func (c *goClient) resources(ctx context.Context) error {
	list, err := c.session.ListResources(ctx, nil)
	if err == nil && (len(list.Resources) != 1 || list.Resources[0].URI != "board://notice") {
		err = fmt.Errorf("resources: %+v", list.Resources)
	}
	return err
}

func (c *goClient) templates(ctx context.Context) error {
	list, err := c.session.ListResourceTemplates(ctx, nil)
	if err == nil && (len(list.ResourceTemplates) != 1 || list.ResourceTemplates[0].URITemplate != "thing://{id}") {
		err = fmt.Errorf("templates: %+v", list.ResourceTemplates)
	}
	return err
}

func (c *goClient) read(ctx context.Context) error {
	result, err := c.session.ReadResource(ctx, &mcp.ReadResourceParams{URI: "thing://T-1"})
	if err == nil && (len(result.Contents) != 1 || !strings.Contains(result.Contents[0].Text, "T-2")) {
		err = fmt.Errorf("contents: %+v", result.Contents)
	}
	if err == nil {
		if _, err := c.session.ReadResource(ctx, &mcp.ReadResourceParams{URI: "thing://lost"}); err == nil {
			return errors.New("a thing that does not exist can be read")
		}
	}
	return err
}

func (c *goClient) steps(ctx context.Context) error {
	params := &mcp.CallToolParams{Name: "importThings"}
	params.SetProgressToken("token")
	text, err := c.called(ctx, params)
	if err == nil && !strings.Contains(text, "imported") {
		err = fmt.Errorf("answer: %s", text)
	}
	for i := 1; i <= 3 && err == nil; i++ {
		select {
		case p := <-c.progress:
			if p.ProgressToken != "token" || p.Progress != float64(i) || p.Total != 3 || p.Message != fmt.Sprintf("step %d", i) {
				err = fmt.Errorf("step %d: %+v", i, p)
			}
		case <-time.After(10 * time.Second):
			err = fmt.Errorf("step %d has not come", i)
		}
	}
	return err
}

func (c *goClient) question(ctx context.Context) error {
	text, err := c.called(ctx, &mcp.CallToolParams{Name: "placeOrder", Arguments: map[string]any{"thing": "T-1"}})
	if err == nil && !strings.Contains(text, "green") {
		err = fmt.Errorf("answer: %s", text)
	}
	return err
}

func (c *goClient) subscribe(ctx context.Context) error {
	if err := c.session.Subscribe(ctx, &mcp.SubscribeParams{URI: "board://notice"}); err != nil {
		return err
	}
	// The gateway looks now and then: what changes before it has looked once is no change.
	err := errors.New("not tried")
	for try := 0; try < 5 && err != nil; try++ {
		c.w.post()
		err = await(ctx, c.updated)
	}
	if err != nil {
		return fmt.Errorf("nobody has told of the change: %w", err)
	}
	return c.session.Unsubscribe(ctx, &mcp.UnsubscribeParams{URI: "board://notice"})
}

func (c *goClient) prompts(ctx context.Context) error {
	list, err := c.session.ListPrompts(ctx, nil)
	if err != nil || len(list.Prompts) != 1 {
		return fmt.Errorf("prompts: %+v, %w", list, err)
	}
	got, err := c.session.GetPrompt(ctx, &mcp.GetPromptParams{Name: "describe", Arguments: map[string]string{"thing": "T-1", "tone": "polite"}})
	if err != nil {
		return err
	}
	text, err := json.Marshal(got.Messages)
	if err == nil && (!strings.Contains(string(text), "Describe T-1, polite.") || !strings.Contains(string(text), "T-2")) {
		err = fmt.Errorf("messages: %s", text)
	}
	return err
}

func (c *goClient) complete(ctx context.Context) error {
	got, err := c.session.Complete(ctx, &mcp.CompleteParams{
		Ref: &mcp.CompleteReference{Type: "ref/prompt", Name: "describe"}, Argument: mcp.CompleteParamsArgument{Name: "tone", Value: "po"},
	})
	if err == nil && !slices.Equal(got.Completion.Values, []string{"poetic", "polite"}) {
		err = fmt.Errorf("values: %q", got.Completion.Values)
	}
	return err
}

// await waits for something to happen, for five seconds at most.
func await[T any](ctx context.Context, happened <-chan T) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	select {
	case <-happened:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
