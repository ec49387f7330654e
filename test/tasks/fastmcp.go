package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/getkin/kin-openapi/openapi2"
	"github.com/getkin/kin-openapi/openapi2conv"
	"go.yaml.in/yaml/v4"

	"drawbridge/test/process"
	"drawbridge/test/tasks/session"
)

// everyNth is how many tasks are also done through FastMCP. The hash of its name chooses a task, so that it is no choice of ours, and
// another task changes nothing about the others.
const everyNth = 4

func (t *task) chosen() bool {
	h := fnv.New32a()
	_, _ = h.Write([]byte(t.name)) // never fails
	return h.Sum32()%everyNth == 0
}

// fastMCP is a FastMCP server with its search by BM25, with the same services behind it.
type fastMCP struct {
	tools map[string]fastMCPTool // by "API METHOD PATH"
}

// fastMCPTool is a tool that FastMCP makes of an operation.
type fastMCPTool struct {
	Name      string
	Arguments []string
}

// compare does the chosen tasks by their scripts through the gateway and through FastMCP.
func (w *world) compare(ctx context.Context, s *settings, all []*task) error {
	var chosen []*task
	for _, t := range all {
		if t.chosen() {
			chosen = append(chosen, t)
		}
	}
	child, endpoint, f, err := w.startFastMCP(ctx, s)
	if err != nil {
		return err
	}
	defer func() { _ = child.Stop() }() // what it says at its end is of no interest
	ours, err := w.playAll(ctx, chosen, w.endpoint, w, s.log())
	if err != nil {
		return err
	}
	theirs, err := w.playAll(ctx, chosen, endpoint, f, s.log())
	if err != nil {
		return err
	}
	missed := report(os.Stdout, "script through the gateway", ours)
	if err := report(os.Stdout, "script through FastMCP", theirs); err != nil {
		fmt.Println("\nFastMCP:", err)
	}
	return missed
}

// startFastMCP starts server.py, and waits until its endpoint answers.
func (w *world) startFastMCP(ctx context.Context, s *settings) (child *process.Child, endpoint string, f *fastMCP, err error) {
	address, err := process.FreeAddress()
	if err != nil {
		return nil, "", nil, err
	}
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, "", nil, err
	}
	file, err := w.fastMCPConfiguration(ctx, s)
	if err != nil {
		return nil, "", nil, err
	}
	f = &fastMCP{}
	var stderr bytes.Buffer
	c := exec.CommandContext(ctx, s.python, "test/tasks/server.py", file, "--list")
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		return nil, "", nil, fmt.Errorf("server.py --list: %w\n%s", err, stderr.Bytes())
	}
	if err := json.Unmarshal(out, &f.tools); err != nil {
		return nil, "", nil, fmt.Errorf("server.py --list: %w", err)
	}
	if child, err = process.Start(ctx, s.python, "test/tasks/server.py", file, port); err != nil {
		return nil, "", nil, err
	}
	endpoint = "http://" + address + "/mcp"
	ready, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	return child, endpoint, f, child.Await(ready, func(ctx context.Context) error {
		opened, err := session.Open(ctx, endpoint)
		if err == nil {
			opened.Close()
		}
		return err
	})
}

// fastMCPConfiguration writes the documents, in the version that FastMCP reads, and the list of APIs for server.py.
func (w *world) fastMCPConfiguration(ctx context.Context, s *settings) (file string, err error) {
	var apis []map[string]string
	for _, api := range []struct{ name, document, base string }{
		{"prefect", "/api/openapi.json", "/api"}, {"mailpit", "/api/v1/swagger.json", ""},
		{"jupyter", filepath.Join(s.programs, "jupyter.yaml"), ""}, {"alertmanager", filepath.Join(s.programs, "alertmanager.yaml"), "/api/v2"},
	} {
		served := w.services[api.name]
		var text []byte
		if filepath.Ext(api.document) == ".yaml" {
			text, err = os.ReadFile(api.document)
		} else {
			var answer string
			answer, err = served.send(ctx, "", api.document, nil)
			text = []byte(answer)
		}
		if err == nil {
			text, err = openAPI3(text)
		}
		if err != nil {
			return "", fmt.Errorf("the document of %s: %w", api.name, err)
		}
		document := filepath.Join(w.dir, api.name+".openapi.json")
		if err := os.WriteFile(document, text, 0o600); err != nil {
			return "", err
		}
		apis = append(apis, map[string]string{"name": api.name, "document": document, "base_url": served.url + api.base, "authorization": served.token})
	}
	file = filepath.Join(w.dir, "fastmcp.json")
	return file, os.WriteFile(file, []byte(compact(apis)), 0o600)
}

// openAPI3 returns a document as JSON. FastMCP doesn't read Swagger 2.0, which becomes OpenAPI 3.0.
func openAPI3(text []byte) ([]byte, error) {
	var value any
	if err := yaml.Unmarshal(text, &value); err != nil {
		return nil, err
	}
	document, _ := named(value).(map[string]any)
	text, err := json.Marshal(document)
	if err != nil || document["swagger"] == nil {
		return text, err
	}
	var old openapi2.T
	if err := json.Unmarshal(text, &old); err != nil {
		return nil, err
	}
	converted, err := openapi2conv.ToV3(&old)
	if err != nil {
		return nil, err
	}
	return json.Marshal(converted)
}

// named makes texts of the keys of a YAML value, such as those of statuses.
func named(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for key, member := range value {
			value[key] = named(member)
		}
	case map[any]any:
		all := make(map[string]any, len(value))
		for key, member := range value {
			all[fmt.Sprint(key)] = named(member)
		}
		return all
	case []any:
		for i, item := range value {
			value[i] = named(item)
		}
	}
	return value
}

func (f *fastMCP) tool(operation string) (string, error) {
	t, ok := f.tools[operation]
	if !ok {
		return "", fmt.Errorf("FastMCP has no tool of %s", operation)
	}
	return t.Name, nil
}

// found reads the definitions that an answer of search_tools lists.
func (f *fastMCP) found(answer string) (all []hit) {
	var definitions []json.RawMessage
	if err := json.Unmarshal([]byte(answer), &definitions); err != nil {
		return nil
	}
	for _, text := range definitions {
		var d struct {
			Name        string          `json:"name"`
			InputSchema json.RawMessage `json:"inputSchema"`
		}
		if err := json.Unmarshal(text, &d); err == nil {
			all = append(all, hit{tool: d.Name, arguments: string(d.InputSchema), text: string(text)})
		}
	}
	return all
}

// describe: an answer of search_tools has the whole definition.
func (f *fastMCP) describe(string) (name string, arguments map[string]any) { return "", nil }

// call moves the members of a body beside the parameters, where FastMCP has them, and marks a parameter of the name of a member.
func (f *fastMCP) call(operation string, arguments map[string]any) (name string, all map[string]any) {
	t := f.tools[operation]
	flat := map[string]any{}
	for name, value := range arguments {
		if body, ok := value.(map[string]any); ok && name == "body" && !slices.Contains(t.Arguments, name) {
			for member, value := range body {
				flat[member] = value
			}
			continue
		}
		if marked := name + "__path"; slices.Contains(t.Arguments, marked) {
			name = marked
		}
		flat[name] = value
	}
	return "call_tool", map[string]any{"name": t.Name, "arguments": flat}
}
