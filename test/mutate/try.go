package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// result is what became of the changes of one group.
type result struct {
	group    group
	points   int
	killed   int
	late     int // of the killed: those whose tests did not end
	survived []survivor
	left     []string // tests that are not asked, and why
	took     time.Duration
}

type survivor struct {
	point   *point
	reached bool // by any test
}

// suite is one test binary.
type suite struct {
	program, dir string
}

// testCase is one test of a suite.
type testCase struct {
	suite *suite
	name  string
	took  time.Duration
}

// maxWait is how much longer than the time of processors that a test may take it is waited for: other work may go on beside it.
const maxWait = 15

// patience is how much longer tests may take with a change than without it, and what they may always take.
const (
	patience      = 10
	leastPatience = 10 * time.Second
)

func try(ctx context.Context, s settings, chosen *regexp.Regexp, g group, dir string) (result, error) {
	r := result{group: g}
	file, points, err := overlay(ctx, g, dir, s.sample)
	if err != nil {
		return r, err
	}
	points = slices.DeleteFunc(points, func(p *point) bool { return !chosen.MatchString(p.name()) })
	r.points = len(points)
	var tests []testCase
	for _, pkg := range g.tests {
		su := &suite{program: filepath.Join(dir, g.name+"-"+strings.ReplaceAll(pkg, "/", "-")+".test"), dir: pkg}
		cmd := exec.CommandContext(ctx, "go", "test", "-c", "-overlay", file, "-vet=off", "-o", su.program, "./"+pkg)
		if out, err := cmd.CombinedOutput(); err != nil {
			return r, fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, out)
		}
		names, err := su.list(ctx)
		if err != nil {
			return r, err
		}
		for _, name := range names {
			tests = append(tests, testCase{suite: su, name: name})
		}
	}
	progress("%s: %d changes, %d tests; which test reaches which change", g.name, len(points), len(tests))
	reach, left, err := record(ctx, s, tests, dir)
	if err != nil {
		return r, err
	}
	r.left = left
	var mu sync.Mutex
	done := 0
	workers, wctx := errgroup.WithContext(ctx)
	workers.SetLimit(s.workers)
	for _, p := range points {
		workers.Go(func() error {
			killed, late, err := noticed(wctx, p, reach[p.id])
			if err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			switch {
			case killed:
				r.killed++
			default:
				r.survived = append(r.survived, survivor{p, len(reach[p.id]) > 0})
			}
			if late {
				r.late++
			}
			if done++; done%100 == 0 {
				progress("%s: %d of %d changes, %d survived", g.name, done, len(points), len(r.survived))
			}
			return nil
		})
	}
	err = workers.Wait()
	slices.SortFunc(r.survived, func(a, b survivor) int { return a.point.id - b.point.id })
	return r, err
}

func progress(format string, args ...any) {
	fmt.Fprintf(os.Stderr, time.Now().Format("15:04:05 ")+format+"\n", args...)
}

// isTest matches what `-test.list` prints of tests; fuzz targets run their seeds as tests.
var isTest = regexp.MustCompile(`^(Test|Fuzz|Example)`)

func (su *suite) list(ctx context.Context) (names []string, err error) {
	cmd := exec.CommandContext(ctx, su.program, "-test.list", ".")
	cmd.Dir = su.dir
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list the tests of %s: %w", su.dir, err)
	}
	for line := range strings.Lines(string(out)) {
		if isTest.MatchString(line) {
			names = append(names, strings.TrimSpace(line))
		}
	}
	return names, nil
}

// record runs each test by itself and returns, for each change, the tests that reach it, the quickest first.
func record(ctx context.Context, s settings, tests []testCase, dir string) (reach map[int][]*testCase, left []string, err error) {
	reach = map[int][]*testCase{}
	var mu sync.Mutex
	workers, wctx := errgroup.WithContext(ctx)
	workers.SetLimit(s.workers)
	for i := range tests {
		workers.Go(func() error {
			t := &tests[i]
			file := filepath.Join(dir, "reached-"+strconv.Itoa(i))
			defer func() { _ = os.Remove(file) }()
			began := time.Now()
			ok, used, err := t.suite.run(wctx, maxWait*s.slow, []string{t.name}, "MUTANT_REACHED="+file)
			t.took = time.Since(began)
			if err != nil && !errors.Is(err, errLate) {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			switch {
			case used > s.slow || err != nil:
				left = append(left, fmt.Sprintf("%s %s: it takes more than %v of a processor", t.suite.dir, t.name, s.slow))
				return nil
			case !ok:
				left = append(left, t.suite.dir+" "+t.name+": it fails with all changes asleep")
				return nil
			}
			text, err := os.ReadFile(file)
			if err != nil && !errors.Is(err, os.ErrNotExist) {
				return err
			}
			for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
				id, err := strconv.Atoi(lines.Text())
				if err != nil {
					return err
				}
				reach[id] = append(reach[id], t)
			}
			return nil
		})
	}
	err = workers.Wait()
	for _, tests := range reach {
		slices.SortFunc(tests, func(a, b *testCase) int { return int(a.took - b.took) })
	}
	slices.Sort(left)
	return reach, left, err
}

// noticed tells whether a test fails with the change awake. Tests are run in portions that grow, the quick ones first: nearly every
// change is noticed by the first.
func noticed(ctx context.Context, p *point, tests []*testCase) (killed, late bool, err error) {
	for portion := 4; len(tests) > 0; portion *= 4 {
		now := tests[:min(portion, len(tests))]
		tests = tests[len(now):]
		bySuite := map[*suite][]string{}
		usual := map[*suite]time.Duration{}
		for _, t := range now {
			bySuite[t.suite] = append(bySuite[t.suite], t.name)
			usual[t.suite] += t.took
		}
		for su, names := range bySuite {
			ok, _, err := su.run(ctx, max(patience*usual[su], leastPatience), names, "MUTANT="+strconv.Itoa(p.id))
			if errors.Is(err, errLate) {
				return true, true, nil
			}
			if err != nil {
				return false, false, err
			}
			if !ok {
				return true, false, nil
			}
		}
	}
	return false, false, nil
}

// errLate tells that tests did not end in time.
var errLate = errors.New("the tests did not end")

// run runs tests and tells whether all passed, and how much time of processors they took, which is the same beside other work.
func (su *suite) run(ctx context.Context, limit time.Duration, names []string, env string) (ok bool, used time.Duration, err error) {
	timed, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(timed, su.program, "-test.run", "^("+strings.Join(names, "|")+")$", "-test.failfast", "-test.short")
	cmd.Dir = su.dir
	cmd.Env = append(os.Environ(), env, "GOMAXPROCS=2")
	cmd.WaitDelay = time.Second
	err = cmd.Run()
	if cmd.ProcessState != nil {
		used = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	var exit *exec.ExitError
	switch {
	case err == nil:
		return true, used, nil
	case ctx.Err() != nil:
		return false, used, ctx.Err()
	case timed.Err() != nil:
		return false, used, errLate
	case errors.As(err, &exit), errors.Is(err, exec.ErrWaitDelay):
		return false, used, nil
	}
	return false, used, err
}
