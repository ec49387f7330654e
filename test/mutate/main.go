package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"
)

// A group is a set of files whose changes are held against the tests of some packages.
type group struct {
	name  string
	dir   string   // of the package that is changed, relative to the module
	files []string // of it; none: all
	tests []string // directories of the packages whose tests have to notice
}

// has tells whether a file, named from the module's root, is one of the group.
func (g group) has(file string) bool {
	return path.Dir(file) == g.dir && (g.files == nil || slices.Contains(g.files, path.Base(file)))
}

// groups are what requirement 22 of the figures names: authentication, the building of requests, the dial guard; and what gives services
// their credentials (E4, E7), what counts and follows the connections of clients, and what decides about the connections of calls and about sending them again.
var groups = []group{
	{name: "auth", dir: "auth", tests: []string{"auth"}},
	{name: "credential", dir: "auth/credential", tests: []string{"auth/credential"}},
	{name: "wire", dir: "openapi/wire", tests: []string{"openapi/wire", "openapi"}},
	{name: "request", dir: "openapi", tests: []string{"openapi"},
		files: []string{"request.go", "argument_place.go", "argument_query.go", "parameter.go", "request_body.go", "request_multipart.go", "server.go", "servervariable.go", "argument_help.go", "uploads.go"}},
	{name: "listener", dir: "gateway/listener", tests: []string{"gateway/listener"}},
	{name: "guard", dir: "gateway/upstream", tests: []string{"gateway/upstream"}, files: []string{"ssrf.go"}},
	{name: "upstream", dir: "gateway/upstream", tests: []string{"gateway/upstream"},
		files: []string{"cleartext.go", "cleartext_conn.go", "age.go", "exact.go", "retry.go", "retry_after.go", "bulkhead.go", "breaker.go", "health.go"}},
}

type settings struct {
	only      string
	match     string
	goal      float64
	sample    int
	workers   int
	slow      time.Duration
	survivors string
}

func main() {
	var s settings
	flag.StringVar(&s.only, "only", "", "the groups to look at, with commas between: auth, credential, wire, request, listener, guard, upstream; all if empty")
	flag.StringVar(&s.match, "match", "", "take only the changes whose names match this pattern: 'uploads.go', 'building.url'")
	flag.Float64Var(&s.goal, "goal", 85, "the least share of changes that tests have to notice in each group, in per cent")
	flag.IntVar(&s.sample, "sample", 1, "take every n-th change only")
	flag.IntVar(&s.workers, "workers", runtime.NumCPU(), "test processes at the same time")
	flag.DurationVar(&s.slow, "slow", 4*time.Second, "tests that take more time of processors than this are not asked: those of bounds of time and memory")
	flag.StringVar(&s.survivors, "survivors", "test/mutate/survivors.txt", "the reasons of survivors that are known")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, s); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, s settings) error {
	if s.sample < 1 || s.workers < 1 {
		return errors.New("-sample and -workers must be at least 1")
	}
	chosen, err := regexp.Compile(s.match)
	if err != nil {
		return fmt.Errorf("-match: %w", err)
	}
	known, err := readReasons(s.survivors)
	if err != nil {
		return err
	}
	if err := known.placed(groups); err != nil {
		return fmt.Errorf("%s: %w", s.survivors, err)
	}
	dir, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var results []result
	for _, g := range groups {
		if s.only != "" && !strings.Contains(","+s.only+",", ","+g.name+",") {
			continue
		}
		began := time.Now()
		r, err := try(ctx, s, chosen, g, dir)
		if err != nil {
			return fmt.Errorf("%s: %w", g.name, err)
		}
		r.took = time.Since(began)
		results = append(results, r)
	}
	if len(results) == 0 {
		return fmt.Errorf("-only %q names no group", s.only)
	}
	if s.sample > 1 {
		chosen = nil // nobody knows which reasons are of changes that were taken
	}
	return report(os.Stdout, results, known, chosen, s.goal)
}
