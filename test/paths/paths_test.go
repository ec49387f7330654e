package paths

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"drawbridge/test/process"
	"drawbridge/test/wire"
)

// document describes the routes that callers may reach, and one that getFile must not lead to. The others are what this is about.
const document = `openapi: 3.1.0
info: {title: Orders, version: "1"}
servers: [{url: "http://%s/v1"}]
paths:
  /orders/{id}:
    get:
      operationId: getOrder
      parameters: [{name: id, in: path, required: true, schema: {type: string}}]
      responses: {"200": {description: the order, content: {text/plain: {schema: {type: string}}}}}
  /files/{path}:
    get:
      operationId: getFile
      parameters: [{name: path, in: path, required: true, schema: {type: string}}]
      responses: {"200": {description: the file, content: {text/plain: {schema: {type: string}}}}}
  /files/{path}/restore:
    post:
      operationId: restoreFile
      parameters: [{name: path, in: path, required: true, schema: {type: string}}]
      responses: {"204": {description: restored}}
  /search:
    get:
      operationId: search
      parameters:
        - {name: q, in: query, schema: {type: string}}
        - {name: X-Ref, in: header, schema: {type: string}}
      responses: {"200": {description: what was found, content: {text/plain: {schema: {type: string}}}}}
`

// Outcomes of a call.
const (
	refused   = "refused before sending"
	exact     = "right route, exact value"
	rejected  = "refused by the server"
	changed   = "right route, changed value"
	elsewhere = "FOREIGN ROUTE"
	unclear   = "UNCLEAR"
)

var outcomes = []string{refused, exact, rejected, changed, elsewhere, unclear}

// TestPaths: no value of an argument reaches a route that its operation does not have, whatever server stands behind.
func TestPaths(t *testing.T) {
	if os.Getenv("PATHS") == "" {
		t.Skip("make paths installs the servers and runs this")
	}
	if len(payloads) < 60 {
		t.Fatalf("%d payloads", len(payloads))
	}
	program := process.BuildGateway(t)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 5*time.Minute)
	t.Cleanup(cancel)
	stacks := startStacks(ctx, t)
	address := startGateway(ctx, t, program, stacks)
	conn, err := wire.Dial(address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	client := &wire.Client{Host: address, Revision: wire.Modern}

	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "stack\targument\t%s\t(foreign without the gateway)\n", strings.Join(outcomes, "\t"))
	var notes []string
	total := 0
	for _, s := range stacks {
		for _, place := range []string{"path", "file", "query", "header"} {
			count := map[string]int{}
			for _, payload := range payloads {
				got, detail := try(t, client, conn, s, place, payload)
				count[got]++
				total++
				note := fmt.Sprintf("%s, %s %q: %s: %s", s.name, place, payload, got, detail)
				switch got {
				case elsewhere, unclear:
					t.Error(note)
				case changed:
					notes = append(notes, note)
				}
			}
			cells := make([]string, 0, len(outcomes))
			for _, o := range outcomes {
				cells = append(cells, fmt.Sprint(count[o]))
			}
			if place == "path" {
				n := bare(ctx, t, s)
				if n == 0 {
					t.Errorf("%s: no payload reaches a foreign route without the gateway either", s.name)
				}
				cells = append(cells, fmt.Sprint(n))
			}
			fmt.Fprintf(w, "%s\t%s\t%s\n", s.name, place, strings.Join(cells, "\t"))
			if count[exact] < len(payloads)/4 {
				t.Errorf("%s: hardly a %s argument arrives: %v", s.name, place, count)
			}
		}
	}
	w.Flush()
	t.Logf("%d payloads, %d stacks, %d calls\n%s", len(payloads), len(stacks), total, table.String())
	for _, n := range notes {
		t.Log(n)
	}
}

// try makes one call and says what became of it.
func try(t *testing.T, client *wire.Client, conn *wire.Conn, s stack, place, payload string) (outcome, detail string) {
	t.Helper()
	tool, argument := "search", map[string]string{"query": "q", "header": "X-Ref"}[place]
	switch place {
	case "path":
		tool, argument = "getOrder", "id"
	case "file": // a parameter that seems to be a path, whose slashes are sent
		tool, argument = "getFile", "path"
	}
	arguments, err := json.Marshal(map[string]string{argument: payload})
	if err != nil {
		t.Fatal(err)
	}
	a, err := conn.Exchange([]byte(client.Call(s.name+"_"+tool, "1", string(arguments))))
	if err != nil {
		t.Fatalf("%s %q: %v", place, payload, err)
	}
	var answer struct {
		Result struct {
			IsError bool
			Content []struct{ Text string }
		}
	}
	if err := json.Unmarshal(a.Body, &answer); err != nil || len(answer.Result.Content) == 0 {
		t.Fatalf("%s %q: status %d, %v: %.500s", place, payload, a.Status, err, a.Body)
	}
	text := answer.Result.Content[0].Text
	lines := map[string]string{}
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		lines[name] = value
	}
	switch {
	case strings.Contains(text, "route=foreign"):
		return elsewhere, text
	case answer.Result.IsError && strings.Contains(text, s.name+" answered "):
		return rejected, text
	case answer.Result.IsError:
		return refused, text
	case lines["route"] == map[string]string{"path": "orders", "file": "files", "query": "search", "header": "search"}[place]:
		if value := arrived(place, lines, text); value != payload {
			return changed, fmt.Sprintf("%q", value)
		}
		return exact, ""
	}
	return unclear, text
}

// arrived is the value that the server has seen: decoded by it, or as it stands in what the server gives to programs.
func arrived(place string, lines map[string]string, text string) string {
	if place == "header" {
		_, value, _ := strings.Cut(text, "\nref=")
		return strings.TrimSuffix(value, "\n")
	}
	if value, ok := lines["value"]; ok {
		if decoded, err := url.QueryUnescape(value); err == nil {
			return decoded
		}
		return value
	}
	if place == "path" || place == "file" {
		_, value, _ := strings.Cut(text, "raw=/v1/"+lines["route"]+"/")
		return strings.TrimSuffix(value, "\n")
	}
	values, err := url.ParseQuery(lines["query"])
	if err != nil || len(values) != 1 || len(values["q"]) != 1 {
		return "several: " + lines["query"]
	}
	return values.Get("q")
}

// startGateway puts one gateway in front of all stacks.
func startGateway(ctx context.Context, t *testing.T, program string, stacks []stack) (address string) {
	t.Helper()
	dir := t.TempDir()
	address, admin := free(t), free(t)
	text := fmt.Sprintf("server: {listen: %q, shutdown_delay: 0s}\nadmin: {listen: %q}\napis:\n", address, admin)
	for _, s := range stacks {
		if err := os.WriteFile(filepath.Join(dir, s.name+".yaml"), fmt.Appendf(nil, document, s.address), 0o600); err != nil {
			t.Fatal(err)
		}
		text += fmt.Sprintf("  - {name: %s, spec: %s.yaml}\n", s.name, s.name)
	}
	file := filepath.Join(dir, "drawbridge.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	g, err := process.Start(ctx, program, "serve", "--config", file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Stop(); err != nil {
			t.Error(err)
		}
	})
	if err := g.AwaitGateway(ctx, admin); err != nil {
		t.Fatal(err)
	}
	// Ready is one API; all have to be served.
	tools := &wire.Client{Host: address, Revision: wire.Modern}
	err = g.Await(ctx, func(context.Context) error {
		conn, err := wire.Dial(address)
		if err != nil {
			return err
		}
		defer conn.Close()
		a, err := conn.Exchange([]byte(tools.List("")))
		if err != nil {
			return err
		}
		if n := strings.Count(string(a.Body), `_search"`); n != len(stacks) {
			return fmt.Errorf("%d of %d APIs", n, len(stacks))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return address
}

func free(t *testing.T) string {
	t.Helper()
	a, err := process.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestPayloads: each is there once.
func TestPayloads(t *testing.T) {
	all := slices.Sorted(slices.Values(payloads))
	if n := len(slices.Compact(all)); n != len(payloads) {
		t.Errorf("%d of %d payloads are different", n, len(payloads))
	}
}
