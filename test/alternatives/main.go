package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

func main() {
	gateway := flag.String("gateway", "bin/drawbridge", "the gateway")
	python := flag.String("python", "", "a folder with a virtual environment for each server in Python: fastmcp, awslabs, proxy")
	npm := flag.String("npm", "", "a folder with the packages of package.json")
	server := flag.String("server", "test/alternatives/server.py", "the program that serves with FastMCP")
	corpus := flag.String("corpus", "", "a directory of OpenAPI documents")
	rounds := flag.Int("rounds", 3, "how often each figure is measured")
	duration := flag.Duration("duration", 10*time.Second, "how long calls are sent in each round")
	only := flag.String("only", strings.Join(steps, ","), "what is measured")
	cases := flag.String("cases", "test/alternatives/testdata/requests/*.txtar", "the cases of requests")
	documents := flag.Int("documents", 20, "how many documents of the corpus are listed, the first by name")
	programs := flag.String("programs", "", "the names of the programs that are compared; empty for all")
	flag.Parse()
	m := measurement{
		cases:    *cases,
		first:    *documents,
		only:     strings.Split(*only, ","),
		programs: append([]program{drawbridge(*gateway), fastMCP(filepath.Join(*python, "fastmcp/bin/python"), *server)}, peers(*python, *npm)...),
		rounds:   *rounds, duration: *duration,
	}
	err := m.choose(*programs)
	if err == nil {
		err = m.run(context.Background(), *corpus)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

type measurement struct {
	cases    string // a pattern of files
	first    int    // documents that are listed
	only     []string
	programs []program
	rounds   int
	duration time.Duration
}

// steps are the values of -only.
var steps = []string{"documents", "requests", "start", "calls"}

// choose keeps the programs that are named, or all for "". A name that means nothing is an error, as is such a step.
func (m *measurement) choose(names string) error {
	for _, step := range m.only {
		if !slices.Contains(steps, step) {
			return fmt.Errorf("-only: %q is none of %s", step, strings.Join(steps, ", "))
		}
	}
	if names == "" {
		return nil
	}
	var all []string
	for _, p := range m.programs {
		all = append(all, p.name)
	}
	chosen := strings.Split(names, ",")
	for _, name := range chosen {
		if !slices.Contains(all, name) {
			return fmt.Errorf("-programs: %q is none of %s", name, strings.Join(all, ", "))
		}
	}
	m.programs = slices.DeleteFunc(m.programs, func(p program) bool { return !slices.Contains(chosen, p.name) })
	return nil
}

func (m measurement) run(ctx context.Context, corpus string) error {
	fmt.Printf("%s, %d processors, load %s, %d rounds\n", runtime.GOOS+"/"+runtime.GOARCH, runtime.NumCPU(), load(), m.rounds)
	if err := m.check(ctx); err != nil {
		return err
	}
	if slices.Contains(m.only, "documents") {
		if err := m.lists(ctx, corpus); err != nil {
			return err
		}
	}
	if slices.Contains(m.only, "requests") {
		if err := m.requests(ctx); err != nil {
			return err
		}
	}
	m.programs = slices.DeleteFunc(m.programs, func(p program) bool { return p.serve == nil })
	if slices.Contains(m.only, "start") {
		for _, document := range []string{"", filepath.Join(corpus, "big/stripe.json"), filepath.Join(corpus, "big/github.json")} {
			if err := m.start(ctx, document); err != nil {
				return err
			}
		}
	}
	if slices.Contains(m.only, "calls") {
		return m.calls(ctx)
	}
	return nil
}

// check prints the version of each program and lists the tool of oneOperation. A program that can't is not installed as it should be: its
// figures would say nothing about it, so nothing is measured.
func (m measurement) check(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "alternatives")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	document := filepath.Join(dir, "openapi.json")
	if err := os.WriteFile(document, []byte(oneOperation), 0o600); err != nil {
		return err
	}
	var faults []error
	for _, p := range m.programs {
		version, err := p.version(ctx)
		if err != nil {
			faults = append(faults, fmt.Errorf("%s: its version: %w", p.name, err))
			continue
		}
		fmt.Printf("%s: %s\n", p.name, version)
		s, err := open(ctx, p, document, "http://127.0.0.1:9")
		if err != nil {
			faults = append(faults, fmt.Errorf("%s: a document with one operation gives no tool: %w", p.name, err))
			continue
		}
		s.close()
	}
	return errors.Join(faults...)
}

// load is the average of the last minute, where the system tells.
func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Fields(string(text))[0]
}

// start prints the time from the start of a program to its first list of tools, and its memory then.
func (m measurement) start(ctx context.Context, document string) error {
	service := newService()
	defer service.Close()
	name := "one operation"
	if document != "" {
		name = filepath.Base(document)
		if _, err := os.Stat(document); err != nil {
			return err
		}
	}
	times, memory, processors := make([][]float64, len(m.programs)), make([][]float64, len(m.programs)), make([][]float64, len(m.programs))
	failed := make([]error, len(m.programs))
	for range m.rounds {
		for i, p := range m.programs {
			if failed[i] != nil {
				continue
			}
			r, err := begin(ctx, p, document, service.URL)
			if err != nil {
				failed[i] = err
				continue
			}
			times[i], memory[i] = append(times[i], r.began.Seconds()), append(memory[i], r.memory())
			processors[i] = append(processors[i], r.end().Seconds())
		}
	}
	for i, p := range m.programs {
		if failed[i] != nil {
			fmt.Printf("%s, %s: %v within %v\n", p.name, name, failed[i], patience)
			continue
		}
		fmt.Printf("%s, %s: first list after %s s, processor time %s s, resident %s MiB\n", p.name, name,
			spread(times[i], "%.2f"), spread(processors[i], "%.2f"), spread(memory[i], "%.0f"))
	}
	return nil
}

// calls prints the calls a second and their times, by the number of clients, one program after the other in each round.
func (m measurement) calls(ctx context.Context) error {
	service := newService()
	defer service.Close()
	for _, clients := range []int{1, 16} {
		var rates, medians, tails, memory, processors [8][]float64 // by program
		for range m.rounds {
			for i, p := range m.programs {
				r, err := begin(ctx, p, "", service.URL)
				if err != nil {
					return fmt.Errorf("%s: %w", p.name, err)
				}
				times, err := r.call(ctx, clients, m.duration)
				if err != nil {
					r.end()
					return fmt.Errorf("%s: %w", p.name, err)
				}
				slices.Sort(times)
				rates[i] = append(rates[i], float64(len(times))/m.duration.Seconds())
				medians[i] = append(medians[i], float64(times[len(times)/2].Microseconds())/1000)
				tails[i] = append(tails[i], float64(times[len(times)*99/100].Microseconds())/1000)
				memory[i] = append(memory[i], r.memory())
				processors[i] = append(processors[i], (r.end()-r.idle).Seconds()*1e6/float64(len(times)))
			}
		}
		for i, p := range m.programs {
			fmt.Printf("%s, %d clients: %s calls/s, median %s ms, p99 %s ms, processor time %s µs a call, resident %s MiB\n", p.name, clients,
				spread(rates[i], "%.0f"), spread(medians[i], "%.1f"), spread(tails[i], "%.1f"), spread(processors[i], "%.0f"), spread(memory[i], "%.0f"))
		}
	}
	return nil
}

// spread prints a median with the smallest and the largest figure.
func spread(all []float64, format string) string {
	slices.Sort(all)
	f := func(v float64) string { return fmt.Sprintf(format, v) }
	return f(all[len(all)/2]) + " (" + f(all[0]) + " to " + f(all[len(all)-1]) + ")"
}

// newService answers every GET with an order of about 1 KiB.
func newService() *httptest.Server {
	body := []byte(`{"id":"1","note":"` + strings.Repeat("x", 1000) + `"}`)
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(body) // the client is the program that is measured
	}))
}
