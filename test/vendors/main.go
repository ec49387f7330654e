package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"
)

func main() {
	var s settings
	flag.StringVar(&s.gateway, "gateway", "bin/drawbridge", "the `program`")
	flag.StringVar(&s.python, "python", "", "an `interpreter` that has the clients of requirements.txt")
	flag.StringVar(&s.clients, "clients", "test/vendors/clients.py", "the `script` that runs them")
	flag.StringVar(&s.typescript, "typescript", "", "the `script` beside the packages of the TypeScript SDK")
	flag.StringVar(&s.corpus, "corpus", os.Getenv("OPENAPI_CORPUS"), "`folder` of real documents")
	flag.StringVar(&s.profile, "profile", "", "schema_profile of the APIs; the default if empty")
	flag.IntVar(&s.calls, "calls", 5, "how many tools of each document are called")
	flag.IntVar(&s.every, "every", 1, "take each n-th document only")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := s.run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "vendors:", err)
		stop()
		os.Exit(1)
	}
}

// settings are what is run on which documents.
type settings struct {
	gateway, python, clients, typescript, corpus, profile string
	calls, every                                          int
}

// vendors returns the clients, each with the command that runs it on endpoints.
func (s *settings) vendors() []vendor {
	calls := strconv.Itoa(s.calls)
	return []vendor{
		{name: "Python SDK", command: []string{s.python, s.clients, "python", calls}},
		{name: "google-genai", command: []string{s.python, s.clients, "google-genai", calls}},
		{name: "openai-agents, strict", command: []string{s.python, s.clients, "openai-agents", calls}},
		{name: "LangChain adapters", command: []string{s.python, s.clients, "langchain", calls}},
		{name: "TypeScript SDK", command: []string{"node", s.typescript, calls}},
	}
}

func (s *settings) run(ctx context.Context) error {
	documents, err := s.documents()
	if err != nil {
		return err
	}
	began := time.Now()
	w, err := newWorld(ctx, s, documents)
	if err != nil {
		return err
	}
	defer w.close()
	fmt.Printf("%d documents, served after %.0f s\n", len(documents), time.Since(began).Seconds())
	all := s.vendors()
	var g errgroup.Group
	g.SetLimit(2) // most of the time one waits for the gateway while the other converts
	for i := range all {
		g.Go(func() error { return all[i].run(ctx, w.endpoints) })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return report(all)
}
