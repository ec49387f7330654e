package differential

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	_ "drawbridge/gateway" // so that go test runs again when the program has changed: it sees imports, not what we build
	"drawbridge/test/process"
)

const document = `openapi: 3.1.0
info: {title: Both, version: "1"}
paths:
  /say:
    get:
      operationId: say
      summary: Says it again
      parameters: [{name: text, in: query, required: true, schema: {type: string}}]
      responses: {"200": {description: Text, content: {text/plain: {schema: {type: string}}}}}
  /stock:
    get:
      operationId: stock
      summary: What there is
      parameters:
        - {name: region, in: query, schema: {type: string}}
        - {name: shelf, in: query, schema: {type: integer}}
      responses: {"200": {description: Text, content: {text/plain: {schema: {type: string}}}}}
  /thing:
    get:
      operationId: thing
      summary: A thing
      responses: {"200": {description: A thing, content: {application/json: {schema: {type: object, properties: {id: {type: integer}}}}}}}
  /refuse:
    post:
      operationId: refuse
      summary: Always refused
      responses: {"204": {description: Never}}
  /wait:
    get:
      operationId: wait
      summary: Waits until nobody waits for it
      responses: {"200": {description: Text, content: {text/plain: {schema: {type: string}}}}}
  /notice:
    get:
      operationId: notice
      summary: A notice
      responses: {"200": {description: Text, content: {text/plain: {schema: {type: string}}}}}
  /picture:
    get:
      operationId: picture
      summary: A picture
      responses: {"200": {description: A picture, content: {image/png: {}}}}
  /records/{id}:
    get:
      operationId: record
      summary: A record
      parameters: [{name: id, in: path, required: true, schema: {type: string}}]
      responses: {"200": {description: A record, content: {application/json: {schema: {type: object}}}}}
`

// picture is one by its signature alone, which is all that anybody looks at.
var picture = []byte("\x89PNG\r\n\x1a\nand no more of it")

// record is what a record holds.
func record(id string) string { return fmt.Sprintf(`{"id":%q}`, id) }

const pageSize = 3

const configuration = `server: {listen: %q, shutdown_delay: 0s, drain_timeout: 2s, page_size: %d}
admin: {listen: %q}
apis:
  - {spec: both.yaml, base_url: %q}
rules:
  - {match: {operation: picture}, set: {resource: {uri: "board://picture"}}}
  - {match: {operation: notice}, set: {resource: {uri: "board://notice", tool: false}}}
  - {match: {operation: record}, set: {resource: {uri: "record://{id}", tool: false}}}
  - {match: {operation: stock}, set: {param_headers: {region: Region, shelf: Shelf}}}
prompts:
  - name: plain
    description: Without arguments.
    messages: [{text: Hello.}]
  - name: review
    title: A review
    description: Of something, in some tone.
    arguments:
      - {name: what, description: What to review, required: true}
      - {name: tone, description: How, values: [plain, poetic, polite]}
    messages:
      - {text: "Review {{what}}."}
      - {role: assistant, text: "In which tone? {{tone}}"}
`

// newGateway starts the gateway in front of a service.
func newGateway(t *testing.T) *server {
	t.Helper()
	s := &server{client: client(t), working: make(chan struct{}, 10)}
	mux := http.NewServeMux()
	text := func(w http.ResponseWriter, text string) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(w, text)
	}
	mux.HandleFunc("GET /say", func(w http.ResponseWriter, r *http.Request) { text(w, r.URL.Query().Get("text")) })
	mux.HandleFunc("GET /stock", func(w http.ResponseWriter, r *http.Request) { text(w, "plenty") })
	mux.HandleFunc("GET /thing", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"id":7}`)
	})
	mux.HandleFunc("GET /picture", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "image/png")
		_, _ = w.Write(picture)
	})
	mux.HandleFunc("GET /notice", func(w http.ResponseWriter, r *http.Request) { text(w, "Closed on Sundays.") })
	mux.HandleFunc("GET /records/{id}", func(w http.ResponseWriter, r *http.Request) {
		if id := r.PathValue("id"); id == "lost" {
			w.WriteHeader(http.StatusNotFound)
		} else {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, record(id))
		}
	})
	mux.HandleFunc("POST /refuse", func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusUnprocessableEntity)
	})
	mux.HandleFunc("GET /wait", func(w http.ResponseWriter, r *http.Request) {
		s.working <- struct{}{}
		<-r.Context().Done()
	})
	service := httptest.NewServer(mux)
	t.Cleanup(service.Close)

	program, dir := process.BuildGateway(t), t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	listen, err := process.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	admin, err := process.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	config := fmt.Sprintf(configuration, listen, pageSize, admin, service.URL)
	for name, text := range map[string]string{"both.yaml": document, "gateway.yaml": config} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	gateway, err := process.Start(context.WithoutCancel(ctx), program, "serve", "--config", filepath.Join(dir, "gateway.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := gateway.Stop(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Logf("the gateway's last words:\n%s", gateway.Log())
		}
	})
	if err := gateway.AwaitGateway(ctx, admin); err != nil {
		t.Fatal(err)
	}
	s.endpoint = "http://" + listen + "/mcp"
	return s
}

// client is an HTTP client whose connections end with the test.
func client(t *testing.T) *http.Client {
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// definitions are those of the gateway, which both servers have.
type definitions struct {
	tools     []*mcp.Tool
	resources []*mcp.Resource
	templates []*mcp.ResourceTemplate
	prompts   []*mcp.Prompt
}

// definitionsOf asks the gateway for what it has.
func definitionsOf(t *testing.T, gateway *server) (d definitions) {
	t.Helper()
	ctx := t.Context()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "differential", Version: "1"}, nil).Connect(ctx,
		&mcp.StreamableClientTransport{Endpoint: gateway.endpoint, HTTPClient: gateway.client, MaxRetries: -1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	d.tools = all(t, session.Tools(ctx, nil))
	d.resources = all(t, session.Resources(ctx, nil))
	d.templates = all(t, session.ResourceTemplates(ctx, nil))
	d.prompts = all(t, session.Prompts(ctx, nil))
	return d
}

// all collects what a list has on all of its pages.
func all[T any](t *testing.T, list iter.Seq2[T, error]) (items []T) {
	t.Helper()
	for item, err := range list {
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, item)
	}
	return items
}

// newSDK starts a server of the SDK that answers as the gateway and its service do. The SDK has one handler for each
// era, between which its users choose.
func newSDK(t *testing.T, gateway *server) *server {
	t.Helper()
	s := &server{client: client(t), working: make(chan struct{}, 10)}
	text := func(text string) *mcp.CallToolResult {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
	}
	handlers := map[string]mcp.ToolHandler{
		"say": func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			var args struct{ Text *string }
			if err := json.Unmarshal(r.Params.Arguments, &args); err != nil || args.Text == nil {
				result := text("text is missing")
				result.IsError = true
				return result, nil
			}
			return text(*args.Text), nil
		},
		"stock": func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return text("plenty"), nil },
		"thing": func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			result := text(`{"id":7}`)
			result.StructuredContent = map[string]any{"id": 7}
			return result, nil
		},
		"picture": func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.ImageContent{Data: picture, MIMEType: "image/png"}}}, nil
		},
		"refuse": func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			result := text("no")
			result.IsError = true
			return result, nil
		},
		"wait": func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			s.working <- struct{}{}
			<-ctx.Done()
			return nil, ctx.Err()
		},
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "sdk", Version: "1"}, &mcp.ServerOptions{
		PageSize:           pageSize,
		CompletionHandler:  complete,
		SubscribeHandler:   func(context.Context, *mcp.SubscribeRequest) error { return nil },
		UnsubscribeHandler: func(context.Context, *mcp.UnsubscribeRequest) error { return nil },
	})
	d := definitionsOf(t, gateway)
	for _, tool := range d.tools {
		if handlers[tool.Name] == nil {
			t.Fatalf("the tool %q is not known here", tool.Name)
		}
		server.AddTool(tool, handlers[tool.Name])
	}
	for _, r := range d.resources {
		server.AddResource(r, read)
	}
	for _, r := range d.templates {
		server.AddResourceTemplate(r, read)
	}
	for _, p := range d.prompts {
		server.AddPrompt(p, fill)
	}
	get := func(*http.Request) *mcp.Server { return server }
	modern := mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{Stateless: true, PropagateRequestCancellation: true})
	legacy := mcp.NewStreamableHTTPHandler(get, nil)
	listener := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client has gone
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		if r.Header.Get("MCP-Protocol-Version") >= "2026-07-28" || strings.Contains(string(body), "io.modelcontextprotocol/protocolVersion") {
			modern.ServeHTTP(w, r)
		} else {
			legacy.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(listener.Close)
	s.endpoint = listener.URL + "/mcp"
	return s
}

// fill is the SDK's server filling in a prompt. The SDK leaves it to its users to look at the arguments, so it does here.
func fill(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	message := func(role mcp.Role, text string) *mcp.PromptMessage {
		return &mcp.PromptMessage{Role: role, Content: &mcp.TextContent{Text: text}}
	}
	if r.Params.Name == "plain" {
		return &mcp.GetPromptResult{Description: "Without arguments.", Messages: []*mcp.PromptMessage{message("user", "Hello.")}}, nil
	}
	what, found := r.Params.Arguments["what"]
	if !found {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "what is missing"}
	}
	return &mcp.GetPromptResult{Description: "Of something, in some tone.", Messages: []*mcp.PromptMessage{
		message("user", "Review "+what+"."), message("assistant", "In which tone? "+r.Params.Arguments["tone"]),
	}}, nil
}

// complete is the SDK's server completing an argument.
func complete(_ context.Context, r *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
	values := []string{}
	switch {
	case r.Params.Ref.URI == "record://{id}" && r.Params.Argument.Name == "id", r.Params.Ref.Name == "review" && r.Params.Argument.Name == "what":
	case r.Params.Ref.Name != "review" || r.Params.Argument.Name != "tone":
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "there is no such argument"}
	default:
		for _, v := range []string{"plain", "poetic", "polite"} {
			if strings.HasPrefix(v, r.Params.Argument.Value) {
				values = append(values, v)
			}
		}
	}
	return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: values, Total: len(values)}}, nil
}

// read is the SDK's server reading a resource.
func read(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	content := &mcp.ResourceContents{URI: r.Params.URI}
	switch id, isRecord := strings.CutPrefix(r.Params.URI, "record://"); {
	case r.Params.URI == "board://notice":
		content.MIMEType, content.Text = "text/plain", "Closed on Sundays."
	case r.Params.URI == "board://picture":
		content.MIMEType, content.Blob = "image/png", picture
	case isRecord && id != "lost":
		text, err := url.PathUnescape(id)
		if err != nil {
			return nil, err
		}
		content.MIMEType, content.Text = "application/json", record(text)
	default:
		return nil, mcp.ResourceNotFoundError(r.Params.URI)
	}
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{content}}, nil
}
