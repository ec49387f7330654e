// Command workflows runs the workflows of Arazzo descriptions against services that answer only as their OpenAPI documents say, and prints how
// many descriptions load, how many workflows have a fault, and how many of the others run to their end. Workflows that need values which their
// documents leave open are counted apart, since such a service does not answer them.
//
//	go run ./test/workflows [-v] DIRECTORY
//
// DIRECTORY has documents/NAME.json and workflows/NAME.arazzo.json. Inputs and answers are made of the schemas in the documents.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"drawbridge/config"
	"drawbridge/gateway"
	"drawbridge/openapi/arazzo"
)

// goal is the share of the workflows without a fault that must run to their end, in percent.
const goal = 98

func main() {
	verbose := flag.Bool("v", false, "print faults, and why workflows stop")
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(flag.Arg(0), *verbose); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// totals are the results of all descriptions.
type totals struct{ descriptions, loaded, workflows, served, ended, open, openEnded, faults, warnings int }

func run(directory string, verbose bool) error {
	files, err := filepath.Glob(filepath.Join(directory, "workflows", "*.arazzo.json"))
	if err != nil || len(files) == 0 {
		return fmt.Errorf("there is no workflows/*.arazzo.json in %s", directory)
	}
	var t totals
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".arazzo.json")
		t.descriptions++
		if err := t.description(file, filepath.Join(directory, "documents", name+".json"), verbose); err != nil {
			fmt.Printf("%s: %v\n", name, err)
			continue
		}
		t.loaded++
	}
	share := 100 * float64(t.ended) / float64(max(t.served, 1))
	fmt.Printf("| descriptions | loaded | workflows | faults | warnings | without a fault | run to their end | share | served, but need undeclared values | run to their end |\n"+
		"|---|---|---|---|---|---|---|---|---|---|\n| %d | %d | %d | %d | %d | %d | %d | %.1f %% | %d | %d |\n",
		t.descriptions, t.loaded, t.workflows, t.faults, t.warnings, t.served, t.ended, share, t.open, t.openEnded)
	if share < goal || t.loaded < t.descriptions {
		return fmt.Errorf("the goal is that all load, and that %d %% run to their end", goal)
	}
	return nil
}

// description runs the workflows of one description.
func (t *totals) description(file, document string, verbose bool) error {
	text, err := os.ReadFile(document)
	if err != nil {
		return err
	}
	spec, err := parse(text)
	if err != nil {
		return err
	}
	service := httptest.NewServer(&mock{document: spec})
	defer service.Close()
	g, err := load(file, document, service.URL)
	if err != nil {
		return err
	}
	described, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var raw struct {
		Workflows []struct{ WorkflowID string }
	}
	if err := json.Unmarshal(described, &raw); err != nil {
		return err
	}
	t.workflows += len(raw.Workflows)
	t.faults += len(g.WorkflowProblems())
	t.warnings += len(g.WorkflowWarnings())
	if verbose {
		for _, fault := range g.WorkflowProblems() {
			fmt.Println(fault)
		}
	}
	d, err := arazzo.Read(file, described)
	if err != nil {
		return err
	}
	for i, w := range d.Workflows {
		if !g.Workflow(w.ID) {
			continue
		}
		served, ended := &t.served, &t.ended
		if needsUndeclared(g.WorkflowWarnings(), d.Workflows, i) { // which the service does not answer
			served, ended = &t.open, &t.openEnded
		}
		*served++
		arguments := inputs(w, spec)
		result, _, err := g.CallWithCause(context.Background(), w.ID, arguments)
		var r struct {
			IsError bool
			Content []struct{ Text string }
		}
		if err == nil {
			err = json.Unmarshal(result, &r)
		}
		if err == nil && !r.IsError {
			*ended++
			continue
		}
		if verbose {
			fmt.Printf("%s: %s %s stops: %v %.600v\n", filepath.Base(file), w.ID, arguments, err, r.Content)
		}
	}
	return nil
}

// needsUndeclared reports whether a workflow needs values that its document does not declare.
func needsUndeclared(warnings []string, all []*arazzo.Workflow, index int) bool {
	for _, warning := range warnings {
		if !strings.HasSuffix(warning, "(the workflow stops if the service does not answer it)") {
			continue
		}
		parts := strings.SplitN(warning, ":", 4) // file, line, column
		line, _ := strconv.Atoi(parts[1])
		column, _ := strconv.Atoi(parts[2])
		at := func(w *arazzo.Workflow) int {
			return cmp.Or(cmp.Compare(w.Position.Line, line), cmp.Compare(w.Position.Column, column))
		}
		if at(all[index]) <= 0 && (index+1 == len(all) || at(all[index+1]) > 0) {
			return true
		}
	}
	return false
}

// load returns a gateway with the document and the workflows.
func load(file, document, service string) (*gateway.Gateway, error) {
	dir, err := os.MkdirTemp("", "workflows")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // it is in the directory for temporary files
	at := filepath.Join(dir, "drawbridge.yaml")
	text := fmt.Sprintf("apis: [{name: api, spec: %q, base_url: %q}]\nworkflows: [%q]\n", document, service, file)
	if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
		return nil, err
	}
	c, problems := config.Load(at, func(string) string { return "" })
	if c == nil {
		return nil, problems.Err()
	}
	g, err := gateway.New(gateway.Options{Config: c, Version: "0", Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, err
	}
	outcomes, err := g.Load(context.Background())
	for _, o := range outcomes {
		if o.Err != nil {
			return nil, o.Err
		}
	}
	return g, err
}
