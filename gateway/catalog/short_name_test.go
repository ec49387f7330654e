package catalog

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"drawbridge/openapi"
)

// someOperations returns operations whose ids and paths resemble each other.
func someOperations(r *rand.Rand, n int) []*openapi.Operation {
	nouns := []string{"flows", "flow_runs", "queues", "orders", "items", "status", "list_1"}
	ids := []string{"", "list", "list_1", "create_flow", "getFlow", "GetFlowParams", "FlowService_GetFlow", "FlowController_list", "listUsingGET_2", "search_tools",
		strings.Repeat("aVeryLongWord", 9), "订单"}
	var all []*openapi.Operation
	seen := map[string]bool{}
	for len(all) < n {
		path := []string{"", "/api", "/api/v1", "/v2"}[r.IntN(4)]
		for range 1 + r.IntN(3) {
			path += "/" + nouns[r.IntN(len(nouns))]
			if r.IntN(2) == 0 {
				path += "/{id}"
			}
		}
		method := []string{"GET", "POST", "PUT", "DELETE"}[r.IntN(4)]
		if seen[method+path] {
			continue
		}
		seen[method+path] = true
		id := ids[r.IntN(len(ids))]
		if r.IntN(3) == 0 { // as FastAPI does
			id = "read_flow" + strings.NewReplacer("/", "_", "{", "_", "}", "_").Replace(path) + "_" + strings.ToLower(method)
		}
		all = append(all, &openapi.Operation{ID: id, Method: method, Path: path, Pointer: fmt.Sprint(len(all)), Input: json.RawMessage(`{}`)})
	}
	return all
}

// TestShortNamesStay: a published name is kept when operations come and go, nothing depends on the order, and a former name never
// reaches another operation than the one that had it.
func TestShortNamesStay(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for round := range 60 {
		o := Options{Names: Short, Prefix: Prefix(r.IntN(3)), MaxName: []int{0, 24, 40}[r.IntN(3)], Reserved: []string{"search_tools"}, APIs: 1}
		all := someOperations(r, 4+r.IntN(40))
		meant := map[string]string{} // the operation that a name was published for
		names := map[*openapi.Operation]string{}
		for n := 1; n <= len(all); n += 1 + r.IntN(5) {
			present := slices.Clone(all[:n])
			if round%3 == 0 && n > 3 { // one is gone
				present = slices.Delete(present, n/2, n/2+1)
			}
			c := Build([]API{{Name: "shop", Operations: present}}, o)
			check(t, c)
			r.Shuffle(len(present), func(i, j int) { present[i], present[j] = present[j], present[i] })
			if d := Build([]API{{Name: "shop", Operations: present}}, o).Diff(c); !d.Empty() {
				t.Fatalf("order makes a difference: %+v", d)
			}
			for op := range names {
				if !slices.Contains(present, op) {
					delete(names, op) // another one with its id may be taken for it
				}
			}
			for op, name := range c.byOperation() {
				if before := names[op]; before != "" && before != name {
					t.Fatalf("%s %s (%s) was %q and is %q", op.Method, op.Path, op.ID, before, name)
				}
				names[op] = name
				key := op.Method + " " + op.Path + " " + op.ID
				if was := meant[name]; was != "" && was != key && (op.ID == "" || !strings.HasSuffix(was, " "+op.ID)) {
					t.Fatalf("%q was %q and is %q", name, was, key)
				}
				meant[name] = key
			}
			for _, tool := range c.All() {
				if len(tool.Name) > max(o.MaxName, 24) && o.MaxName > 0 {
					t.Errorf("%q is longer than %d", tool.Name, o.MaxName)
				}
				for _, name := range tool.Former {
					if other := c.Renamed(name); other != nil && other != tool || other != nil && c.Lookup(name) != nil {
						t.Fatalf("%q is a former name of %q and reaches %q", name, tool.Name, other.Name)
					}
				}
			}
			o.Published = o.Published.With(c)
		}
	}
}

// TestFormerNamesSurviveSettings: when tools.names or the prefix changes, the names that were published before stay callable.
func TestFormerNamesSurviveSettings(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for range 30 {
		apis := []API{{Name: "shop", Operations: someOperations(r, 20)}}
		o := Options{Names: Short, APIs: 1}
		for range 6 {
			before := Build(apis, o)
			o.Published = o.Published.With(before)
			o.Names, o.Prefix = Names(r.IntN(2)), Prefix(r.IntN(3))
			after := Build(apis, o)
			for _, tool := range before.All() {
				now := after.Lookup(tool.Name)
				if now == nil {
					now = after.Renamed(tool.Name)
				}
				if now != nil && now.Operation != tool.Operation && o.Names == Short {
					t.Fatalf("%q reaches %s %s, and was %s %s", tool.Name, now.Method, now.Path, tool.Method, tool.Path)
				}
				if now == nil && !slices.ContainsFunc(after.All(), func(other *Tool) bool {
					return other.Operation != tool.Operation && slices.Contains(other.Former, tool.Name)
				}) {
					t.Fatalf("%q of %s %s reaches nothing", tool.Name, tool.Method, tool.Path)
				}
			}
		}
	}
}

func TestWords(t *testing.T) {
	for name, want := range map[string]string{
		"listUserIDs_v1": "list user ids v1", "APIKey": "api key", "get-order": "get order", "__x__": "x", "": "", "S3Bucket": "s3 bucket", "HTTPServer2Go": "http server2 go",
	} {
		if got := strings.Join(wordsIn(name), " "); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
	for _, cut := range []struct {
		name  string
		limit int
		want  string
	}{{"get_order_items", 12, "get_order"}, {"getOrderItems", 12, "getOrder"}, {"abcdefgh", 4, "abcd"}, {"get", 3, "get"}, {"x", 0, ""}} {
		if got := cutWords(cut.name, cut.limit); got != cut.want {
			t.Errorf("%q cut to %d: got %q, want %q", cut.name, cut.limit, got, cut.want)
		}
	}
}
