package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"drawbridge/config"
	"drawbridge/gateway"
	"drawbridge/openapi/jsonscan"
)

// earlier is what another version of the program, or another configuration, made of the documents.
type earlier struct {
	kind  string // what it was read from: one of the constants
	tools []knownTool
	lists []knownList  // what each endpoint lists; nil if unknown
	lock  *config.Lock // the approvals of a lock file, which has digests in place of definitions
}

// The kinds of what check --against compares with.
const (
	ofVersion  = "version"
	ofTools    = "tools"
	ofManifest = "manifest"
	ofReport   = "report"
	ofLock     = "lock"
)

// knownTool is a tool as far as its source tells.
type knownTool struct {
	name              string
	former            []string // other names that it had
	callable          []string // those of former by which calls still reach it
	api, method, path string   // "" if unknown
	parts             []part   // its definition; nil if unknown
}

// part is a member of a definition.
type part struct {
	at    string // JSON Pointer
	value any    // decoded; nil if the definition does not have it
}

// knownList is what an endpoint lists.
type knownList struct {
	Endpoint     string `json:"endpoint"`
	Presentation string `json:"presentation"`
	Reason       string `json:"reason"`
}

// maxAgainst is the largest file that is compared with, in bytes.
const maxAgainst = 256 << 20

// readEarlier reads a file that an earlier version wrote.
func readEarlier(file string) (*earlier, error) {
	f, err := os.Open(file)
	if err != nil {
		if cause := errors.Unwrap(err); cause != nil {
			err = cause
		}
		return nil, fmt.Errorf("can't be read: %w", err)
	}
	defer func() { _ = f.Close() }() // nothing was written
	data, err := io.ReadAll(io.LimitReader(f, maxAgainst+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("can't be read: %w", err)
	case len(data) > maxAgainst:
		return nil, fmt.Errorf("is larger than %d MiB", maxAgainst>>20)
	}
	data = bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\ufeff")))
	if len(data) == 0 {
		return nil, errors.New("is empty")
	}
	if data[0] != '{' && data[0] != '[' {
		lock, err := config.ReadLock(file)
		if err != nil {
			return nil, fmt.Errorf("has neither JSON nor the approvals of tools.lock: %w", err)
		}
		return &earlier{kind: ofLock, lock: lock}, nil
	}
	return parseEarlier(data)
}

// earlierJSON is the union of the JSON that is read: a result of tools/list alone or in its response, the manifest of the gateway, and the
// report of check --json.
type earlierJSON struct {
	Tools           json.RawMessage `json:"tools"`
	Result          *earlierJSON    `json:"result"`
	ManifestVersion string          `json:"schema_version"`
	APIs            []earlierAPI    `json:"apis"`
	Lists           []knownList     `json:"lists"`
	Next            string          `json:"nextCursor"`
	Meta            struct {
		Lists []knownList `json:"drawbridge/lists"`
	} `json:"_meta"`
}

type earlierAPI struct {
	API struct {
		Name string `json:"name"`
	} `json:"api"`
	Operations []struct {
		Method string `json:"method"`
		Path   string `json:"path"`
		Tool   string `json:"tool"`
		Fate   string `json:"fate"`
	} `json:"operations"`
}

func parseEarlier(data []byte) (*earlier, error) {
	const expected = "expected the output of tools --json or check --json, a result of tools/list, a manifest, or the file of tools.lock"
	if _, err := jsonscan.Scan(data, jsonscan.Options{}); err != nil {
		return nil, fmt.Errorf("is not valid JSON (%w); %s", err, expected)
	}
	var all earlierJSON
	if data[0] == '[' {
		all.Tools = data
	} else if err := json.Unmarshal(data, &all); err != nil {
		return nil, fmt.Errorf("%s (%w)", expected, err)
	}
	if all.Result != nil {
		all = *all.Result
	}
	switch {
	case all.Next != "":
		return nil, errors.New("is one page of a list: it has a nextCursor; the output of tools --json is complete")
	case all.Tools != nil && jsonscan.KindOf(all.Tools) == jsonscan.Array:
		kind := ofTools
		if all.ManifestVersion != "" {
			kind = ofManifest
		}
		e := &earlier{kind: kind, lists: all.Meta.Lists}
		for raw := range jsonscan.Elements(all.Tools) {
			tool, err := parseTool(raw)
			if err != nil {
				return nil, fmt.Errorf("tools[%d]: %w", len(e.tools), err)
			}
			e.tools = append(e.tools, tool)
		}
		return e, nil
	case all.APIs != nil:
		e := &earlier{kind: ofReport, lists: all.Lists}
		for i := range all.APIs {
			for _, op := range all.APIs[i].Operations {
				if op.Tool != "" && (op.Fate == "exposed" || op.Fate == "changed") {
					e.tools = append(e.tools, knownTool{name: op.Tool, api: all.APIs[i].API.Name, method: op.Method, path: op.Path})
				}
			}
		}
		return e, nil
	}
	return nil, errors.New(expected)
}

// parseTool reads a definition of tools/list or of a manifest.
func parseTool(raw []byte) (knownTool, error) {
	if jsonscan.KindOf(raw) != jsonscan.Object {
		return knownTool{}, errors.New("expected an object")
	}
	t := knownTool{name: jsonscan.StringAt(raw, "/name")}
	if t.name == "" {
		return t, errors.New("has no name")
	}
	const operation = "/_meta/drawbridge~1operation"
	t.api, t.method, t.path = jsonscan.StringAt(raw, operation+"/api"), jsonscan.StringAt(raw, operation+"/method"), jsonscan.StringAt(raw, operation+"/path")
	members := [][2]string{{"/title", "/title"}, {"/description", "/description"}, {"/inputSchema", "/inputSchema"}, {"/outputSchema", "/outputSchema"}, {"/annotations", "/annotations"}}
	if jsonscan.At(raw, "/input_schema") != nil { // a manifest, whose annotations have another form
		members = [][2]string{{"/title", "/title"}, {"/description", "/description"}, {"/inputSchema", "/input_schema"}, {"/outputSchema", "/returns/schema"}}
	}
	for _, member := range members {
		p := part{at: member[0]}
		if value := jsonscan.At(raw, member[1]); value != nil {
			d := json.NewDecoder(bytes.NewReader(value))
			d.UseNumber()
			if err := d.Decode(&p.value); err != nil {
				return t, fmt.Errorf("%s: %w", member[1], err)
			}
		}
		t.parts = append(t.parts, p)
	}
	return t, nil
}

// callableNames returns the former names of a tool by which calls still reach it.
func callableNames(g *gateway.Gateway, of *gateway.Plan) (names []string) {
	for _, name := range of.Tool.Former {
		if staysCallable(g, name, of.Tool.Name) {
			names = append(names, name)
		}
	}
	return names
}

// staysCallable reports whether calls by a former name reach the tool.
func staysCallable(g *gateway.Gateway, former, name string) bool {
	of := g.Plan(former)
	return of != nil && of.Tool.Name == name
}

// present returns what this version makes of the documents.
func present(g *gateway.Gateway) (*earlier, error) {
	e := &earlier{lists: []knownList{}}
	for _, list := range g.Lists() {
		e.lists = append(e.lists, knownList{list.Endpoint, list.Presentation, list.Reason})
	}
	for raw, err := range g.DefinitionsWithAccess() {
		if err != nil {
			return nil, err
		}
		tool, err := parseTool(raw)
		if err != nil {
			return nil, err
		}
		tool.former = g.Plan(tool.name).Tool.Former
		tool.callable = callableNames(g, g.Plan(tool.name))
		e.tools = append(e.tools, tool)
	}
	return e, nil
}
