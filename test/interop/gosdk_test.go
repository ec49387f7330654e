package interop

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

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// tools are all operations of the order service. The one without an operationId is named after its method and path.
var tools = []string{
	"addCategories", "cancelOrder", "createOrder", "findOrders", "getCustomer", "getOrder", "getReceipt", "getShippingLabel",
	"get_stock_warehouse", "listCategories", "listOrders", "payOrder", "salesReport", "updateOrder",
}

// bearer puts the token on each request, as the client's own OAuth handling would.
type bearer struct {
	token string
	next  http.RoundTripper
}

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return b.next.RoundTrip(r)
}

func TestGoSDK(t *testing.T) {
	w := newWorld(t)
	for _, revision := range []string{"2025-06-18", "2025-11-25", "2026-07-28"} {
		t.Run(revision, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			transport := &http.Transport{}
			defer transport.CloseIdleConnections()
			client := mcp.NewClient(&mcp.Implementation{Name: "interop", Version: "1"}, nil)
			session, err := client.Connect(ctx, &mcp.StreamableClientTransport{
				Endpoint:   w.endpoint,
				HTTPClient: &http.Client{Transport: bearer{token: w.token, next: transport}},
				MaxRetries: -1,
			}, &mcp.ClientSessionOptions{ProtocolVersion: revision})
			if err != nil {
				t.Fatalf("connect: %v", err)
			}
			defer func() {
				if err := session.Close(); err != nil {
					t.Errorf("close: %v", err)
				}
			}()
			if got := session.InitializeResult().ProtocolVersion; got != revision {
				t.Errorf("agreed on revision %q, want %q", got, revision)
			}
			if revision < "2026-07-28" {
				if err := session.Ping(ctx, nil); err != nil {
					t.Errorf("ping: %v", err)
				}
			}
			t.Run("list", func(t *testing.T) { list(ctx, t, session) })
			w.requests()
			t.Run("call", func(t *testing.T) { calls(ctx, t, w, session) })
			t.Run("errors", func(t *testing.T) { failures(ctx, t, w, session) })
		})
	}
}

// TestOldTransport is the Go SDK's client of the transport of 2024-11-05.
func TestOldTransport(t *testing.T) {
	w := newWorld(t)
	for _, path := range []string{"/sse", "/mcp"} {
		t.Run(path, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			transport := &http.Transport{}
			defer transport.CloseIdleConnections()
			client := mcp.NewClient(&mcp.Implementation{Name: "interop", Version: "1"}, nil)
			session, err := client.Connect(ctx, &mcp.SSEClientTransport{
				Endpoint: w.at(path), HTTPClient: &http.Client{Transport: bearer{token: w.token, next: transport}},
			}, &mcp.ClientSessionOptions{ProtocolVersion: "2024-11-05"})
			if err != nil {
				t.Fatalf("connect: %v", err)
			}
			defer func() {
				if err := session.Close(); err != nil {
					t.Errorf("close: %v", err)
				}
			}()
			if got := session.InitializeResult().ProtocolVersion; got != "2024-11-05" {
				t.Errorf("agreed on revision %q", got)
			}
			if err := session.Ping(ctx, nil); err != nil {
				t.Errorf("ping: %v", err)
			}
			var names []string
			for tool, err := range session.Tools(ctx, nil) {
				if err != nil {
					t.Fatalf("list: %v", err)
				}
				names = append(names, tool.Name)
			}
			slices.Sort(names)
			if diff := cmp.Diff(tools, names); diff != "" {
				t.Errorf("tools (-want +got):\n%s", diff)
			}
			w.requests()
			t.Run("call", func(t *testing.T) { oldCall(ctx, t, w, session) })
		})
	}
}

// oldCall makes a call over the old transport, and one of a tool that is not there.
func oldCall(ctx context.Context, t *testing.T, w *world, session *mcp.ClientSession) {
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "findOrders", Arguments: json.RawMessage(`{"q":"LAMP"}`)})
	if err != nil {
		t.Fatal(err)
	}
	if got := describe(result); got != `text ["SO 1002#b"]` {
		t.Errorf("answer: %s", got)
	}
	w.checkNoTokenWentUpstream(t, w.requests())
	var wire *jsonrpc.Error
	if _, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "nothing"}); !errors.As(err, &wire) || wire.Code != jsonrpc.CodeInvalidParams {
		t.Errorf("an unknown tool: %v", err)
	}
}

func list(ctx context.Context, t *testing.T, session *mcp.ClientSession) {
	var names []string
	for tool, err := range session.Tools(ctx, nil) {
		if err != nil {
			t.Fatalf("list: %v", err)
		}
		names = append(names, tool.Name)
		if tool.Description == "" || tool.Annotations == nil || tool.Annotations.DestructiveHint == nil || tool.Annotations.OpenWorldHint == nil {
			t.Errorf("tool %q lacks a description or annotations: %+v", tool.Name, tool.Annotations)
		}
		if tool.Name == "cancelOrder" && (tool.Annotations.ReadOnlyHint || !*tool.Annotations.DestructiveHint || !tool.Annotations.IdempotentHint) {
			t.Errorf("cancelOrder is a DELETE, and annotated as %+v", tool.Annotations)
		}
	}
	slices.Sort(names)
	if diff := cmp.Diff(tools, names); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
}

// calls makes calls whose arguments are hard to get onto the wire, and looks at the wire and at the answer.
func calls(ctx context.Context, t *testing.T, w *world, session *mcp.ClientSession) {
	for _, c := range []struct {
		tool, arguments string
		wire            string // method and request URI at the service
		content         string // of the answer: type, then its text or media type
		structured      string // fragment of structuredContent
	}{
		{"getOrder", `{"order_no":"SO 1002#b","X-Tenant":"south"}`,
			"GET /api/v1/orders/SO%201002%23b", `text {"id":9007199254741003,`, `"id":9007199254741003`},
		{"listOrders", `{"status":["open","paid"],"tag":["quay","fragile"],"filter":{"customer_id":9007199254740993},"page_size":5}`,
			"GET /api/v1/orders?status=open,paid&tag=quay&tag=fragile&filter%5Bcustomer_id%5D=9007199254740993&page%5Bsize%5D=5", `text {"orders":[{"id":9007199254741001,`, `"total":1`},
		{"getReceipt", `{"order_no":"SO 1001","locale":"de"}`,
			"GET /api/v1/orders/SO%201001/receipt", "text HARBOUR CHANDLERS", ""},
		{"getShippingLabel", `{"order_no":"SÖ 1003;x"}`,
			"GET /api/v1/orders/S%C3%96%201003%3Bx/label", "image image/png after text The answer (image/png, ", ""},
		{"get_stock_warehouse", `{"warehouse":["north","quay"],"sku":["ROPE-12","LAMP-3"]}`,
			"GET /api/v1/stock/;warehouse=north,quay?sku=ROPE-12%7CLAMP-3", `text [{"sku":"LAMP-3"`, ""},
		{"listCategories", `{"depth":2}`,
			"GET /api/v1/categories?depth=2", `text {"name":"Everything"`, `"children":[{"name":"Deck"}`},
		{"getCustomer", `{"customer_id":"9223372036854775807"}`,
			"GET /api/v1/customers/9223372036854775807", `text {"id":9223372036854775807`, `"id":9223372036854775807`},
		{"salesReport", `{"span":{"from":"2026-03-01","to":"2026-03-02"}}`,
			"GET /api/v1/reports/sales?span=%7B%22from%22%3A%222026-03-01%22%2C%22to%22%3A%222026-03-02%22%7D", "text day,orders,total", ""},
		{"findOrders", `{"q":"LAMP"}`,
			"GET /api/v1/orders/find?q=LAMP", `text ["SO 1002#b"]`, `{"result":["SO 1002#b"]}`},
	} {
		t.Run(c.tool, func(t *testing.T) {
			result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: c.tool, Arguments: json.RawMessage(c.arguments)})
			if err != nil {
				t.Fatal(err)
			}
			requests := w.requests()
			w.checkNoTokenWentUpstream(t, requests)
			if len(requests) != 1 {
				t.Fatalf("the service got %d requests, want 1; the answer: %s", len(requests), describe(result))
			}
			if got := requests[0].Method + " " + requests[0].RequestURI; got != c.wire {
				t.Errorf("wire:\n got %s\nwant %s", got, c.wire)
			}
			if got := describe(result); result.IsError || !strings.HasPrefix(got, c.content) {
				t.Errorf("answer: isError %t, %.200s; want %s", result.IsError, got, c.content)
			}
			structured, err := json.Marshal(result.StructuredContent)
			if err != nil {
				t.Fatal(err)
			}
			// The SDK's client reads numbers into float64, so digits are compared where they survive: as text above.
			if c.structured != "" && !strings.Contains(c.structured, `"id"`) && !strings.Contains(string(structured), c.structured) {
				t.Errorf("structuredContent = %.300s, want %s in it", structured, c.structured)
			}
			if c.structured != "" && result.StructuredContent == nil {
				t.Error("there is no structuredContent")
			}
		})
	}
}

func failures(ctx context.Context, t *testing.T, w *world, session *mcp.ClientSession) {
	t.Run("unknown tool", func(t *testing.T) {
		_, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "nothing"})
		var e *jsonrpc.Error
		if !errors.As(err, &e) || e.Code != jsonrpc.CodeInvalidParams || !strings.Contains(e.Message, `"nothing"`) {
			t.Errorf("calling a tool that does not exist: %v", err)
		}
	})
	t.Run("bad arguments", func(t *testing.T) {
		result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "listOrders", Arguments: json.RawMessage(`{"status":["lost"],"page_size": -1,"colour":"red"}`)})
		if err != nil {
			t.Fatal(err)
		}
		got := describe(result)
		for _, want := range []string{"/status/0", "/page_size", "colour"} {
			if !result.IsError || !strings.Contains(got, want) {
				t.Errorf("isError %t, %s; want an error that names %s", result.IsError, got, want)
			}
		}
		if n := len(w.requests()); n != 0 {
			t.Errorf("the service got %d requests for arguments that are wrong", n)
		}
	})
	t.Run("refused by the service", func(t *testing.T) {
		result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "getOrder", Arguments: map[string]any{"order_no": "SO 9999"}})
		if err != nil {
			t.Fatal(err)
		}
		if got := describe(result); !result.IsError || !strings.Contains(got, "404") || !strings.Contains(got, "there is no order") {
			t.Errorf("isError %t, %s; want the status and the words of the service", result.IsError, got)
		}
	})
}

// describe is the first block of a result: its type, then its text or its media type.
func describe(r *mcp.CallToolResult) string {
	if len(r.Content) == 0 {
		return "nothing"
	}
	switch c := r.Content[len(r.Content)-1].(type) {
	case *mcp.TextContent:
		return "text " + c.Text
	case *mcp.ImageContent:
		if text, ok := r.Content[0].(*mcp.TextContent); ok {
			return "image " + c.MIMEType + " after text " + text.Text
		}
		return "image " + c.MIMEType
	default:
		return fmt.Sprintf("%T", c)
	}
}
