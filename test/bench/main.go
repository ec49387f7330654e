package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// settings are the flags.
type settings struct {
	gateway   string
	rounds    int
	duration  time.Duration
	warmup    time.Duration
	scenarios []string
	specs     string
	direct    bool
	live      int
	json      bool
	short     bool
	timeout   time.Duration
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

var allScenarios = []string{"small", "large", "text", "prose", "prosetext", "list", "start"}

// run returns the exit code: 0 measured, 1 failed or a goal missed (see Report.conclude), 2 wrong flags.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	var s settings
	var role, target, scenarios string
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&s.gateway, "gateway", "bin/drawbridge", "the gateway's `program` (make build)")
	f.IntVar(&s.rounds, "rounds", 5, "interleaved rounds of each scenario")
	f.DurationVar(&s.duration, "duration", 3*time.Second, "how long one target is driven in one round")
	f.DurationVar(&s.warmup, "warmup", time.Second, "how long each target is driven before the first round")
	f.StringVar(&scenarios, "scenarios", strings.Join(allScenarios, ","),
		"which of small (1 KiB, 64 connections), large (256 KiB, 16 connections, text and structuredContent),\ntext (the same with output_schemas: off), prose and prosetext (the same with more text in fewer members), list (tools/list of github.json), start (start to first list)")
	f.StringVar(&s.specs, "specs", "", "`folder` of github.json and stripe.json (default: $OPENAPI_CORPUS/big); list and start are left out without it")
	f.BoolVar(&s.direct, "direct", false, "also drive the upstream itself, to see what the load generator can do")
	f.IntVar(&s.live, "live", 0, "`pages` of the console's Live that are open while calls are made")
	f.BoolVar(&s.json, "json", false, "print one JSON document instead of tables")
	f.BoolVar(&s.short, "short", false, "smoke test: 2 rounds of 300 ms, to see that it still runs; the figures mean nothing, and a goal that is missed does not change the exit status")
	f.DurationVar(&s.timeout, "timeout", 15*time.Minute, "give up after this long")
	f.StringVar(&role, "role", "", "internal: run as `upstream` or proxy until stdin ends")
	f.StringVar(&target, "target", "", "internal: where -role proxy sends its requests")
	if err := f.Parse(args); err != nil {
		return 2
	}
	if role != "" {
		if err := serveRole(ctx, role, target, stdin, stdout); err != nil {
			fmt.Fprintf(stderr, "bench %s: %v\n", role, err)
			return 1
		}
		return 0
	}
	s.scenarios = strings.Split(scenarios, ",")
	for _, name := range s.scenarios {
		if !slices.Contains(allScenarios, name) {
			fmt.Fprintf(stderr, "bench: there is no scenario %q; choose from %s\n", name, strings.Join(allScenarios, ", "))
			return 2
		}
	}
	if s.short {
		s.rounds, s.duration, s.warmup = 2, 300*time.Millisecond, 100*time.Millisecond
	}
	if s.specs == "" {
		if corpus := os.Getenv("OPENAPI_CORPUS"); corpus != "" {
			s.specs = filepath.Join(corpus, "big")
		}
	}

	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	progress := func(format string, args ...any) { fmt.Fprintf(stderr, format+"\n", args...) }
	report, err := measure(ctx, s, progress)
	if err != nil {
		fmt.Fprintf(stderr, "bench: %v\n", err)
		return 1
	}
	if s.json {
		e := json.NewEncoder(stdout)
		e.SetIndent("", "  ")
		if err := e.Encode(report); err != nil {
			fmt.Fprintf(stderr, "bench: %v\n", err)
			return 1
		}
		return report.conclude(stderr)
	}
	report.print(stdout)
	return report.conclude(stdout)
}
