package toolsearch_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"drawbridge/config"
	"drawbridge/gateway"
	"drawbridge/gateway/toolsearch"
	"drawbridge/test/gatewaytest"
)

var ownTools = []string{"search_tools", "describe_tools", "read_tool", "call_tool"}

// TestReservedToolNames: the configuration refuses the names that the gateway's own tools have.
func TestReservedToolNames(t *testing.T) {
	if got := new(config.Config).ReservedToolNames(); !slices.Equal(got, ownTools) {
		t.Errorf("%q, want %q", got, ownTools)
	}
	for _, name := range new(config.Config).ReservedToolNames() {
		if !toolsearch.Is(name) {
			t.Errorf("%q is no tool of package toolsearch", name)
		}
	}
}

// TestSearchMode: in every revision the list has the tools that find and call the others, these do so, and every tool can
// still be called by its name.
func TestSearchMode(t *testing.T) {
	service := gatewaytest.NewRecordingService(t)
	g := gatewaytest.Start(t, gatewaytest.SearchDocument, fmt.Sprintf(gatewaytest.SearchConfig, ", pinned: {operation: createOrder}"), service.URL)
	for _, revision := range gatewaytest.AllRevisions {
		t.Run(revision, func(t *testing.T) {
			c := gatewaytest.NewClient(t, g.Handler(), revision, "")
			if got, want := gatewaytest.ToolNames(t, c.Send("tools/list", "", "").Body.Bytes()), append(slices.Clone(ownTools), "createOrder"); !slices.Equal(got, want) {
				t.Errorf("tools %q, want %q", got, want)
			}
			if text, isError := gatewaytest.TextOf(t, c.Send("tools/call", "search_tools", `{"query":"cancel an order"}`)); isError || !strings.HasPrefix(text, "cancelOrder(id: integer)\n  Cancel an order\n") {
				t.Error(text)
			}
			if text, isError := gatewaytest.TextOf(t, c.Send("tools/call", "describe_tools", `{"names":["cancelOrder"]}`)); isError || !strings.Contains(text, "declare function cancelOrder(args: {\n  id: integer\n})") {
				t.Error(text)
			}
			for _, tt := range []struct {
				tool, arguments string
				sent, text      string // what reaches the service, and the beginning of the text for the model
			}{
				{"read_tool", `{"name":"listOrders"}`, "GET /orders", `{"done":true}`},
				{"call_tool", `{"name":"listOrders","arguments":{}}`, "GET /orders", `{"done":true}`},
				{"call_tool", `{"name":"cancelOrder","arguments":{"id":7}}`, "DELETE /orders/7", `{"done":true}`},
				{"call_tool", `{"name":"cancelOrder","arguments":"{\"id\":7}"}`, "DELETE /orders/7", `{"done":true}`},
				{"cancelOrder", `{"id":7}`, "DELETE /orders/7", `{"done":true}`},
				{"read_tool", `{"name":"cancelOrder","arguments":{"id":7}}`, "", "cancelOrder is not read-only: call it with call_tool. Nothing was sent."},
				{"call_tool", `{"name":"cancelOrder","arguments":{"id":"x","it":1}}`, "", "The arguments are not valid; nothing was sent."},
				{"call_tool", `{"name":"cancelOrders"}`, "", `There is no tool "cancelOrders". The nearest names are cancelOrder`},
				{"call_tool", `{"name":"call_tool","arguments":{"name":"listOrders"}}`, "", `There is no tool "call_tool".`},
				{"call_tool", `{"arguments":{}}`, "", "The arguments don't fit: name is missing"},
				{"call_tool", `{"name":"repeated","arguments":{"id":"7"}}`, "", "repeated must be called by its own name"},
			} {
				w := c.Send("tools/call", tt.tool, tt.arguments)
				text, isError := gatewaytest.TextOf(t, w)
				if !strings.HasPrefix(text, tt.text) || isError != (tt.sent == "") {
					t.Errorf("%s %s: %s", tt.tool, tt.arguments, w.Body)
				}
				if strings.HasPrefix(tt.text, "The arguments are not valid") && !strings.Contains(text, "\nIt takes (id: integer).") {
					t.Errorf("no signature: %s", text)
				}
				var sent []string
				for _, r := range service.Taken() {
					sent = append(sent, r.Method+" "+r.URL.Path)
				}
				if got := strings.Join(sent, ", "); got != tt.sent {
					t.Errorf("%s %s: sent %q, want %q", tt.tool, tt.arguments, got, tt.sent)
				}
			}
		})
	}
}

// connected is a client that has connected to a URL with a query.
func connected(t *testing.T, g *gateway.Gateway, revision, query string) *gatewaytest.Client {
	c := gatewaytest.NewClient(t, g.Handler(), revision, "")
	c.Query = query
	return c
}

// TestChosenLists: a client chooses by the query of its URL what its list shows; in a legacy session that of initialize
// counts, whatever later requests have.
func TestChosenLists(t *testing.T) {
	service := gatewaytest.NewRecordingService(t)
	long := strings.Repeat("a", 500)
	gateways := map[string]*gateway.Gateway{}
	for _, p := range []string{"all", "search", "auto"} {
		gateways[p] = gatewaytest.Start(t, gatewaytest.SearchDocument, strings.Replace(fmt.Sprintf(gatewaytest.SearchConfig, ""), "presentation: search", "presentation: "+p, 1), service.URL)
	}
	all := []string{"cancelOrder", "createOrder", "listOrders", "repeated"}
	for _, tt := range []struct {
		presentation, query string
		want                []string
		refused             string
	}{
		{"all", "", all, ""},
		{"auto", "", all, ""},
		{"search", "", ownTools, ""},
		{"search", "?presentation=all", all, ""},
		{"search", "?presentation=auto", all, ""},
		{"all", "?presentation=search", ownTools, ""},
		{"auto", "?presentation=search&tools=list*", ownTools, ""},
		{"auto", "?tools=list*,repeated", []string{"listOrders", "repeated"}, ""},
		{"all", "?tools=listOrders&tools=createOrder", []string{"createOrder", "listOrders"}, ""},
		{"all", "?tags=orders", []string{"createOrder", "listOrders"}, ""},
		{"all", "?tags=orders&tools=list*", []string{"listOrders"}, ""},
		{"all", "?apis=shop", all, ""},
		{"search", "?apis=shop", ownTools, ""},
		{"all", "?tags=stock&tools=list*", nil, "the query of the URL matches no tool of this endpoint: a tool must fit all of its keys"},
		{"all", "?tools=listOrders,nothing", nil, "entry 2 of tools in the query of the URL matches no tool of this endpoint"},
		{"all", "?tools=", nil, "tools in the query of the URL has an empty entry"},
		{"all", "?tools=" + strings.Repeat("a,", 32) + "a", nil, "tools in the query of the URL has more than 32 entries"},
		{"all", "?presentation=none", nil, "presentation in the query of the URL must be all, search or auto"},
		{"all", "?token=secret", nil, `"token" in the query of the URL is unknown: there are presentation, tools, tags and apis`},
		{"all", "?%zz", nil, "the query of the URL can't be read"},
		{"all", "?tools=" + long + long, nil, "the query of the URL has 1006 bytes: at most 512 are allowed"},
	} {
		for _, revision := range gatewaytest.AllRevisions {
			c := connected(t, gateways[tt.presentation], revision, tt.query)
			w := c.Send("tools/list", "", "")
			if tt.refused != "" {
				var answer struct{ Error struct{ Message string } }
				if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || w.Code != http.StatusBadRequest || answer.Error.Message != tt.refused {
					t.Errorf("%s %s: %d %s", revision, tt.query, w.Code, w.Body)
				}
				continue
			}
			if got := gatewaytest.ToolNames(t, w.Body.Bytes()); !slices.Equal(got, tt.want) {
				t.Errorf("%s, presentation %s %s: tools %q, want %q", revision, tt.presentation, tt.query, got, tt.want)
			}
			if revision < "2026" {
				c.Query = "?tools=nothing" // not that of the session
				if got := gatewaytest.ToolNames(t, c.Send("tools/list", "", "").Body.Bytes()); !slices.Equal(got, tt.want) {
					t.Errorf("%s %s: the session has tools %q, want %q", revision, tt.query, got, tt.want)
				}
			}
			// What was chosen restricts what is found, and nothing that can be called.
			if text, isError := gatewaytest.TextOf(t, c.Send("tools/call", "createOrder", "{}")); isError || text != "{\"done\":true}\n" {
				t.Errorf("%s %s: %s", revision, tt.query, text)
			}
		}
	}
}

// TestSearchWithinChoice: search_tools finds only what the client has chosen.
func TestSearchWithinChoice(t *testing.T) {
	g := gatewaytest.Start(t, gatewaytest.SearchDocument, fmt.Sprintf(gatewaytest.SearchConfig, ""), "http://127.0.0.1:1")
	for _, revision := range gatewaytest.AllRevisions {
		c := connected(t, g, revision, "?tags=stock")
		text, _ := gatewaytest.TextOf(t, c.Send("tools/call", "search_tools", `{"query":"cancel an order"}`))
		if strings.Contains(text, "cancelOrder") || !strings.Contains(text, "shop (1)") {
			t.Errorf("%s: %s", revision, text)
		}
	}
}

// TestSearchModeInstructions: the instructions tell a client in search mode how to find tools, after those of the operator,
// and no other client.
func TestSearchModeInstructions(t *testing.T) {
	cfg := fmt.Sprintf(gatewaytest.SearchConfig, "") + "server: {instructions: Be careful.}\n"
	g := gatewaytest.Start(t, gatewaytest.SearchDocument, cfg, "http://127.0.0.1:1")
	for _, revision := range gatewaytest.AllRevisions {
		for query, want := range map[string]string{
			"": "Be careful.\n\nThis server has 4 tools of the API shop.", "?presentation=all": "Be careful.", "?tags=stock&presentation=search": "Be careful.\n\nThis server has 1 tools",
		} {
			if got := connected(t, g, revision, query).Instructions(); !strings.HasPrefix(got, want) || strings.Contains(got, "search_tools") != strings.Contains(want, "This server") {
				t.Errorf("%s %s: %q", revision, query, got)
			}
		}
	}
}

// TestSearchModeAuthorization: whatever a caller may not call is in no answer, and can't be called; without
// auth.hide_unauthorized the call is answered with the challenge for more scopes.
func TestSearchModeAuthorization(t *testing.T) {
	i, service := gatewaytest.NewIDP(t), gatewaytest.NewRecordingService(t)
	for _, hide := range []bool{false, true} {
		cfg := strings.Replace(fmt.Sprintf(gatewaytest.ProtectedConfig, gatewaytest.Issuers(i)), "default_scopes", fmt.Sprintf("hide_unauthorized: %v\n  default_scopes", hide), 1) +
			"tools: {presentation: search, pinned: {operation: purge}}\n"
		g := gatewaytest.Start(t, gatewaytest.Document("Shop", "list", "purge", "show"), cfg, service.URL)
		for _, revision := range gatewaytest.AllRevisions {
			c := gatewaytest.NewClient(t, g.Handler(), revision, i.Token(t, nil))
			for tool, arguments := range map[string]string{
				"search_tools": `{"query":"purge"}`, "describe_tools": `{"names":["purge","purged"]}`,
			} {
				w := c.Send("tools/call", tool, arguments)
				text, _ := gatewaytest.TextOf(t, w)
				if text = strings.ReplaceAll(text, `There is no tool "purge".`, ""); strings.Contains(text, "purge ") || strings.Contains(text, "purge(") || strings.Contains(text, `"name":"purge"`) {
					t.Errorf("%s, %s: %s", revision, tool, text)
				}
			}
			if listed := slices.Contains(gatewaytest.ToolNames(t, c.Send("tools/list", "", "").Body.Bytes()), "purge"); listed == hide {
				t.Errorf("%s, hide %v: listed %v", revision, hide, listed)
			}
			if text := c.Instructions(); !strings.Contains(text, "2 tools") {
				t.Error(text)
			}
			for _, tool := range []string{"call_tool", "read_tool"} {
				w := c.Send("tools/call", tool, `{"name":"purge"}`)
				unknown, _ := gatewaytest.TextOf(t, c.Send("tools/call", tool, `{"name":"gone"}`))
				switch {
				case hide:
					if text, isError := gatewaytest.TextOf(t, w); !isError || !strings.HasPrefix(text, `There is no tool "purge".`) || !strings.HasPrefix(unknown, `There is no tool "gone".`) {
						t.Errorf("%s: %s", revision, w.Body)
					}
				case w.Code != http.StatusForbidden || !strings.Contains(w.Header().Get("WWW-Authenticate"), `orders:admin`):
					t.Errorf("%s: %d %s %s", revision, w.Code, w.Header(), w.Body)
				}
			}
			if n := len(service.Taken()); n > 0 {
				t.Errorf("%s: %d requests", revision, n)
			}
		}
	}
}
