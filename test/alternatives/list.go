package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"drawbridge/gateway/tokenizer"
)

// session is a program that serves a document on standard input and output, and a client.
type session struct {
	*mcp.ClientSession
	tools   []*mcp.Tool
	began   time.Duration // until the whole list of tools
	memory  float64       // resident then, in MiB
	process *exec.Cmd
	dir     string
}

// open starts a program with a document and lists its tools.
func open(ctx context.Context, p program, document, service string) (s *session, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	started := &session{}
	defer func() {
		if err != nil && ctx.Err() != nil {
			err = fmt.Errorf("not within %v: %w", patience, err)
		}
		if err != nil {
			started.close()
		}
	}()
	s = started
	if s.dir, err = os.MkdirTemp("", "alternatives"); err != nil {
		return nil, err
	}
	if document, err = filepath.Abs(document); err != nil {
		return nil, err
	}
	if s.process, err = p.stdio(ctx, s.dir, document, service); err != nil {
		return nil, err
	}
	began := time.Now()
	client := mcp.NewClient(&mcp.Implementation{Name: "alternatives", Version: "1"}, nil)
	if s.ClientSession, err = client.Connect(ctx, &mcp.CommandTransport{Command: s.process, TerminateDuration: time.Second}, &mcp.ClientSessionOptions{ProtocolVersion: "2025-06-18"}); err != nil {
		return nil, err
	}
	for tool, err := range s.Tools(ctx, nil) {
		if err != nil {
			return nil, err
		}
		s.tools = append(s.tools, tool)
	}
	s.began, s.memory = time.Since(began), (&running{command: s.process}).memory()
	if len(s.tools) == 0 {
		return nil, errors.New("no tools")
	}
	return s, nil
}

func (s *session) close() {
	if s.ClientSession != nil {
		_ = s.Close() // it is ended
	}
	if s.process != nil && s.process.Process != nil {
		_ = s.process.Process.Kill() // it may have ended
	}
	_ = os.RemoveAll(s.dir)
}

// valid returns how many of the tools have an input schema that is JSON Schema 2020-12.
func (s *session) valid() (n int) {
	for _, tool := range s.tools {
		text, err := json.Marshal(tool.InputSchema)
		if err != nil {
			continue
		}
		schema, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
		if err != nil {
			continue
		}
		c := jsonschema.NewCompiler()
		if c.AddResource("tool.json", schema) != nil {
			continue
		}
		if _, err := c.Compile("tool.json"); err == nil {
			n++
		}
	}
	return n
}

// tokens returns what names, descriptions and input schemas cost, by o200k_base.
func (s *session) tokens() (n int) {
	for _, tool := range s.tools {
		text, err := json.Marshal(map[string]any{"name": tool.Name, "description": tool.Description, "inputSchema": tool.InputSchema})
		if err == nil {
			n += tokenizer.Count(text)
		}
	}
	return n
}

// lists prints what each program makes of the first documents of the corpus: tools, those with a valid schema, tokens, time and memory.
func (m measurement) lists(ctx context.Context, corpus string) error {
	var all []string
	for _, pattern := range []string{"*", "big/*"} {
		found, err := filepath.Glob(filepath.Join(corpus, pattern))
		if err != nil {
			return err
		}
		all = append(all, found...)
	}
	all = slices.DeleteFunc(all, func(file string) bool {
		info, err := os.Stat(file)
		return err != nil || !info.Mode().IsRegular() || strings.HasSuffix(file, ".md")
	})
	if len(all) < m.first {
		return fmt.Errorf("%s has %d documents, and %d are compared: -documents", corpus, len(all), m.first)
	}
	all = all[:m.first]
	type total struct{ documents, tools, valid, tokens int }
	totals, shared := make([]total, len(m.programs)), make([]total, len(m.programs))
	common := 0
	for _, document := range all {
		fmt.Println(filepath.Base(document))
		each := make([]total, len(m.programs))
		for i, p := range m.programs {
			s, err := open(ctx, p, document, "http://127.0.0.1:9")
			if err != nil {
				fmt.Printf("  %s: %.160s\n", p.name, strings.Join(strings.Fields(err.Error()), " "))
				continue
			}
			each[i] = total{1, len(s.tools), s.valid(), s.tokens()}
			fmt.Printf("  %s: %d tools, %d with a valid schema, %d tokens, %.2f s, %.0f MiB\n", p.name, each[i].tools, each[i].valid, each[i].tokens, s.began.Seconds(), s.memory)
			s.close()
		}
		read := !slices.ContainsFunc(each, func(t total) bool { return t.documents == 0 })
		if read {
			common++
		}
		for i, t := range each {
			sums := []*total{&totals[i]}
			if read {
				sums = append(sums, &shared[i])
			}
			for _, sum := range sums {
				*sum = total{sum.documents + t.documents, sum.tools + t.tools, sum.valid + t.valid, sum.tokens + t.tokens}
			}
		}
	}
	for i, p := range m.programs {
		t, s := totals[i], shared[i]
		fmt.Printf("%s: %d of %d documents give tools, %d tools, %d with a valid schema; the %d that all read: %d tools, %d tokens\n", p.name, t.documents, len(all), t.tools, t.valid, common, s.tools, s.tokens)
	}
	return nil
}
