// Command toollists measures what the tools of large documents cost in a model's context: the whole list, and the list with
// presentation search; the answers of search_tools and describe_tools; and the index behind them. Tokens are o200k_base.
//
//	go run ./test/toollists -gateway bin/drawbridge -corpus DIRECTORY -finding DIRECTORY
//
// The corpus has an INDEX.md that lists its documents and big/github.json; the other directory is that of test/finding.
// A missed goal is an error.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
)

func main() {
	var s settings
	flag.StringVar(&s.gateway, "gateway", "bin/drawbridge", "the `program`")
	flag.StringVar(&s.corpus, "corpus", os.Getenv("OPENAPI_CORPUS"), "`folder` of real documents")
	flag.StringVar(&s.finding, "finding", "", "`folder` of queries and their documents")
	flag.StringVar(&s.only, "only", "", "measure only `lists`, signatures or answers")
	flag.BoolVar(&s.missing, "missing", false, "print the signatures that don't have all required arguments")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := s.run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "toollists:", err)
		stop()
		os.Exit(1)
	}
}

type settings struct {
	gateway, corpus, finding, only string
	missing                        bool
	missed                         []string
}

func (s *settings) run(ctx context.Context) error {
	for _, part := range []struct {
		name    string
		measure func() error
	}{{"lists", func() error { return s.lists(ctx) }}, {"signatures", s.signatures}, {"answers", s.answers}} {
		if s.only == "" || s.only == part.name {
			if err := part.measure(); err != nil {
				return err
			}
		}
	}
	if len(s.missed) > 0 {
		return fmt.Errorf("missed: %q", s.missed)
	}
	return nil
}

// row prints a figure with its goal, and notes a goal that is missed.
func (s *settings) row(what string, value, goal float64, format string) {
	verdict := "met"
	if value > goal {
		verdict = "MISSED"
		s.missed = append(s.missed, what)
	}
	fmt.Printf("| %s | "+format+" | ≤ "+format+" | %s |\n", what, value, goal, verdict)
}
