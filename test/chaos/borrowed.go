package main

import (
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
	"syscall"
	"time"

	"drawbridge/test/figures"
)

// What other programs and tests of this module measure: they are run, and their figures are taken from what they print.

// borrow runs a command in the root of the module, and returns all that it printed and whether it ended well. It is interrupted with
// all that it has started, since neither make nor go run pass a signal on; and what it leaves behind, however it ended, is killed, so that no
// figure is measured beside it.
func (s *suite) borrow(ctx context.Context, name string, args ...string) (printed string, well bool, err error) {
	c := exec.CommandContext(ctx, name, args...)
	c.Dir = s.root
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGINT) }
	c.WaitDelay = 10 * time.Second
	out, err := c.CombinedOutput()
	if c.Process != nil {
		_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
	}
	if ctx.Err() != nil {
		return "", false, fmt.Errorf("%s: %w\n%s", name, ctx.Err(), out)
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return "", false, fmt.Errorf("%s: %w", name, err)
	}
	return string(out), err == nil, nil
}

// tableRows takes the rows of the table that a program has printed. It may fail for a goal that is missed, and for nothing else.
func tableRows(printed string, well bool) ([]row, error) {
	all, err := figures.Parse(printed)
	if err != nil {
		return nil, err
	}
	var rows []row
	failed := false
	for _, f := range all {
		v := verdictOf(f.Met)
		if f.Goal == "" && f.Met {
			v = shown
		}
		failed = failed || !f.Met
		rows = append(rows, row{f.Name, f.Goal, f.Measured, v})
	}
	if !well && !failed {
		return nil, fmt.Errorf("it failed:\n%s", printed)
	}
	return rows, nil
}

// tests runs tests of one or more packages, as testsRow judges them.
func (s *suite) tests(ctx context.Context, what, pattern string, args ...string) ([]row, error) {
	printed, well, err := s.borrow(ctx, "go", append([]string{"test", "-count=1", "-v", "-run", pattern}, args...)...)
	if err != nil {
		return nil, err
	}
	r, err := testsRow(what, pattern, printed, well)
	if err != nil {
		return nil, err
	}
	if r.verdict != ok {
		s.progress("%s", printed)
	}
	return []row{r}, nil
}

// testsRow counts the tests that passed. Each must, and there must be some; a case may be skipped, but no test as a whole, and each that the pattern names
// must be there.
func testsRow(what, pattern, printed string, well bool) (row, error) {
	passed, failed := strings.Count(printed, "--- PASS"), strings.Count(printed, "--- FAIL")
	if passed+failed == 0 && strings.Contains(printed, "--- SKIP") {
		return row{}, &notRun{"its tests are skipped here"}
	}
	measured := fmt.Sprintf("%d cases pass, %d fail", passed, failed)
	var lacking []string
	for _, found := range regexp.MustCompile(`--- SKIP: ([^/\s]+) \(`).FindAllStringSubmatch(printed, -1) {
		lacking = append(lacking, found[1])
	}
	if named := regexp.MustCompile(`^\^\(?([\w|]+)\)?\$$`).FindStringSubmatch(pattern); named != nil {
		for name := range strings.SplitSeq(named[1], "|") {
			if !strings.Contains(printed, "--- PASS: "+name+" (") && !slices.Contains(lacking, name) {
				lacking = append(lacking, name)
			}
		}
	}
	if len(lacking) > 0 {
		measured += ", not passed: " + strings.Join(lacking, ", ")
	}
	return row{what, "all pass", measured, verdictOf(well && passed > 0 && failed == 0 && len(lacking) == 0)}, nil
}

// target runs a target of the Makefile, and takes the last line that fits as what was measured.
func (s *suite) target(ctx context.Context, what, goal, line string, args ...string) (rows []row, printed string, err error) {
	printed, well, err := s.borrow(ctx, "make", append([]string{"--no-print-directory"}, args...)...)
	if err != nil {
		return nil, "", err
	}
	found := regexp.MustCompile(line).FindAllString(printed, -1)
	if !well {
		s.progress("%s", printed)
	}
	measured := "it failed"
	if len(found) > 0 {
		measured = strings.TrimSpace(found[len(found)-1])
	}
	return []row{{what, goal, measured, verdictOf(well && len(found) > 0)}}, printed, nil
}

// tokens runs a part of test/tokens.
func tokens(number int, name, only string) figure {
	const unknown = "beside %s tokens of unknown keys a second; then 9 windows each without them and beside them"
	beside := map[string][2]string{
		"rotation": {"keys rotate every 5 s", "keys rotate every 30 s"},
		"keys":     {fmt.Sprintf(unknown, "1,000") + ", by turns", fmt.Sprintf(unknown, "10,000") + ", and 9 each beside as many requests without a token, and beside as many that another program refuses, by turns"},
		"outage":   {"the server does not answer; a day in virtual time", "the server does not answer; a day in virtual time"},
	}[only]
	return figure{
		number: number, name: name,
		conditions: [3]string{
			scaled: "test/tokens, 500 calls/s, 20 s, " + beside[0], full: "test/tokens, 1,000 calls/s, 10 min, " + beside[1],
		},
		run: func(ctx context.Context, s *suite) ([]row, error) {
			args := []string{"run", "./test/tokens", "-gateway", s.program, "-only", only, "-rps", "500"}
			if s.size == full {
				args = append(args, "-phase", "10m", "-rotate", "30s", "-rps", "1000", "-others", "10000", "-compare")
			}
			printed, well, err := s.borrow(ctx, "go", args...)
			if err != nil {
				return nil, err
			}
			rows, err := tableRows(printed, well)
			if only == "outage" && err == nil { // an hour, and a day, where time is made up
				var more []row
				more, err = s.tests(ctx, "a day without the server, in virtual time", "^(TestOutage|TestStartDuringOutage|TestIntrospectionOutage)$", "./auth")
				rows = append(rows, more...)
			}
			return rows, err
		},
	}
}

// streams runs parts of test/streams.
func streams(ctx context.Context, s *suite, args ...string) ([]row, error) {
	printed, well, err := s.borrow(ctx, "go", append([]string{"run", "./test/streams", "-gateway", s.program}, args...)...)
	if err != nil {
		return nil, err
	}
	return tableRows(printed, well)
}

var reloads = figure{
	number: 3, name: "reloads under load",
	conditions: [3]string{
		scaled: "test/streams, 200 changes of the configuration and of a document, ten a second, at 500 calls/s, 100 open streams", full: "test/streams, 1,000 changes of the configuration and of a document, ten a second, at 1,000 calls/s, 500 open streams",
	},
	run: func(ctx context.Context, s *suite) ([]row, error) {
		if s.size == full {
			return streams(ctx, s, "-only", "reloads", "-reloads", "1000", "-rps", "1000", "-few", "500")
		}
		return streams(ctx, s, "-only", "reloads", "-reloads", "200", "-rps", "500", "-few", "100")
	},
}

var openStreams = figure{
	number: 14, name: "open streams",
	conditions: [3]string{
		scaled: "test/streams, 10,000 streams over HTTP/1.1", full: "test/streams, 10,000 streams over HTTP/1.1, and over HTTP/2",
	},
	run: func(ctx context.Context, s *suite) ([]row, error) {
		rows, err := streams(ctx, s, "-only", "http1")
		if err != nil || s.size != full {
			return rows, err
		}
		more, err := streams(ctx, s, "-only", "http2")
		return append(rows, more...), err
	},
}

// proven is a figure that tests of the module prove.
func proven(number int, name, conditions, pattern string, args ...string) figure {
	return figure{
		number: number, name: name, conditions: [3]string{scaled: conditions, full: conditions},
		run: func(ctx context.Context, s *suite) ([]row, error) { return s.tests(ctx, "", pattern, args...) },
	}
}

// printedBy is a figure that a target of the Makefile measures.
func printedBy(number int, name, conditions, goal, line string, args ...string) figure {
	return figure{
		number: number, name: name, conditions: [3]string{scaled: conditions, full: conditions},
		run: func(ctx context.Context, s *suite) ([]row, error) {
			rows, printed, err := s.target(ctx, "", goal, line, args...)
			return append(rows, absent(printed)...), err
		},
	}
}

var conformance = figure{
	number: 24, name: "conformance",
	conditions: [3]string{scaled: "make conformance: all scenarios for servers", full: "make conformance: all scenarios for servers"},
	run: func(ctx context.Context, s *suite) ([]row, error) {
		printed, well, err := s.borrow(ctx, "make", "--no-print-directory", "conformance")
		if err != nil {
			return nil, err
		}
		if !well {
			s.progress("%s", printed)
		}
		return append(conforming(printed, well), absent(printed)...), nil
	},
}

// conforming adds up what the suites have printed.
func conforming(printed string, well bool) []row {
	var suites, green, all int
	for _, found := range regexp.MustCompile(`(\d+) of (\d+) scenarios without a failure or a warning`).FindAllStringSubmatch(printed, -1) {
		suites++
		for into, text := range map[*int]string{&green: found[1], &all: found[2]} {
			n, _ := strconv.Atoi(text) // of digits
			*into += n
		}
	}
	return []row{{"", "no failure, no warning", fmt.Sprintf("%d of %d scenarios of %d suites without a failure or a warning", green, all, suites), verdictOf(well && suites > 0 && green == all)}}
}

// absent are the parts of which a target says that they could not be run, each in a line of its own.
func absent(printed string) (rows []row) {
	for _, found := range regexp.MustCompile(`(?m)^\s*\w+: (not run): (.+?)\s*$`).FindAllStringSubmatch(printed, -1) {
		rows = append(rows, row{what: found[2], measured: found[1], verdict: notMeasured})
	}
	return rows
}

var apart = figure{
	number: 18, name: "kept answers of two users",
	conditions: [3]string{
		scaled: "100,000 interleaved calls and reads of two users, with answers kept for 2 s", full: "1,000,000 interleaved calls and reads of two users, with answers kept for 2 s",
	},
	run: func(ctx context.Context, s *suite) ([]row, error) {
		calls := by(s, [3]int{0, 100_000, 1_000_000})
		return s.tests(ctx, "answers made for another", "^TestKeptAnswersStayApart$", "-timeout", "1h", "./gateway", "-args", fmt.Sprintf("-kept-calls=%d", calls))
	},
}

var redisGone = figure{
	number: 27, name: "Redis is killed under load",
	conditions: [3]string{scaled: "test/replicas: three gateways, 300 calls/s, 25 s", full: "test/replicas: three gateways, 500 calls/s, 30 min"},
	run: func(ctx context.Context, s *suite) ([]row, error) {
		if _, err := find("redis-server"); err != nil {
			return nil, err
		}
		if _, err := os.Stat(filepath.Join(s.root, "test/replicas")); err != nil {
			return nil, &notRun{"there is no test/replicas"}
		}
		args := []string{"run", "./test/replicas", "-gateway", s.program}
		if s.size == full {
			args = append(args, "-duration", "30m", "-rps", "500")
		}
		printed, well, err := s.borrow(ctx, "go", args...)
		if err != nil {
			return nil, err
		}
		return tableRows(printed, well)
	},
}

var fuzzing = figure{
	number: 21, name: "fuzz targets",
	conditions: [3]string{
		scaled: "the seeds of each target", full: "60 s for each target, two side by side",
	},
	run: func(ctx context.Context, s *suite) ([]row, error) {
		count, _, err := s.borrow(ctx, "git", "grep", "-hE", "^func Fuzz[A-Z]", "--", "*_test.go")
		if err != nil {
			return nil, err
		}
		targets := strings.Count(count, "\n")
		rows := []row{{"targets", ">= 14", strconv.Itoa(targets), verdictOf(targets >= 14)}}
		if s.size == full {
			more, _, err := s.target(ctx, "inputs that crash", "0", `fuzz: \d+ targets, .*`, "fuzz", "FUZZTIME=60s")
			return append(rows, more...), err
		}
		packages, _, err := s.borrow(ctx, "git", "grep", "-lE", "^func Fuzz[A-Z]", "--", "*_test.go")
		if err != nil {
			return nil, err
		}
		seen := map[string]bool{}
		var folders []string
		for file := range strings.FieldsSeq(packages) {
			if dir := "./" + filepath.Dir(file); !seen[dir] {
				seen[dir] = true
				folders = append(folders, dir)
			}
		}
		more, err := s.tests(ctx, "seeds", "^Fuzz", folders...)
		return append(rows, more...), err
	},
}

var images = figure{
	number: 29, name: "an image that is built twice",
	conditions: [3]string{
		scaled: "make reproducible: at two places, for two processors", full: "make reproducible CLEAN=1: at two places, for two processors, the second time with an empty build cache; make sbom",
	},
	run: func(ctx context.Context, s *suite) ([]row, error) {
		line, args := `the same \d+ bytes twice`, []string{"reproducible"}
		if s.size == full { // or the second takes packages that the first has compiled
			line, args = line+", the second time with an empty build cache", append(args, "CLEAN=1")
		}
		rows, printed, err := s.target(ctx, "bytes of both together", "the same", line, args...)
		if err != nil {
			return nil, err
		}
		rows = append(rows, imageSizes(printed)...)
		if s.size != full {
			return rows, nil
		}
		more, _, err := s.target(ctx, "what it is made of, written twice", "the same, and valid", `the same bytes twice`, "sbom")
		return append(rows, more...), err
	},
}

// imageSizes judges the images by what make image has printed of each.
func imageSizes(printed string) (rows []row) {
	seen := map[string]bool{}
	for _, found := range regexp.MustCompile(`(?m)^ *(\w+/\w+) as user \S+: ([\d.]+) MB compressed`).FindAllStringSubmatch(printed, -1) {
		if seen[found[1]] {
			continue
		}
		seen[found[1]] = true
		size, err := strconv.ParseFloat(found[2], 64)
		rows = append(rows, row{"size of " + found[1], "<= 25 MB", found[2] + " MB", verdictOf(err == nil && size <= 25)})
	}
	if len(rows) == 0 {
		rows = []row{{"size", "<= 25 MB", "not printed", missed}}
	}
	return rows
}

var mutation = figure{
	number: 22, name: "changes that tests notice",
	conditions: [3]string{scaled: "make mutate for one of five parts, the dial guard", full: "make mutate: all of its parts"},
	run: func(ctx context.Context, s *suite) ([]row, error) {
		args := []string{"--no-print-directory", "mutate"}
		if s.size != full {
			args = append(args, "MUTATE_FLAGS=-only guard")
		}
		printed, well, err := s.borrow(ctx, "make", args...)
		if err != nil {
			return nil, err
		}
		return mutated(printed, well)
	},
}

// mutated takes the rows of the table that make mutate has printed. It may fail for what they tell, and for nothing else.
func mutated(printed string, well bool) (rows []row, err error) {
	failed := false
	for _, found := range regexp.MustCompile(`(?m)^(\w+) +(\d+) +(\d+) +\d+ +(\d+) +(\d+) +([\d.]+)%`).FindAllStringSubmatch(printed, -1) {
		score, err := strconv.ParseFloat(found[6], 64)
		noticed, explained := err == nil && score >= 85, found[5] == found[4]
		failed = failed || !noticed || !explained
		rows = append(rows,
			row{found[1], ">= 85 %", fmt.Sprintf("%s %% (%s of %s)", found[6], found[3], found[2]), verdictOf(noticed)},
			row{found[1] + ", survivors with a reason", "all", fmt.Sprintf("%s of %s", found[5], found[4]), verdictOf(explained)})
	}
	if !well && !failed {
		return rows, fmt.Errorf("it failed:\n%s", printed)
	}
	return rows, nil
}
