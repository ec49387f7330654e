package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"drawbridge/test/process"
	"drawbridge/test/timebox"
	"drawbridge/test/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestFiguresAreNumberedOnce(t *testing.T) {
	last := 0
	for _, f := range allFigures() {
		if f.number <= last || f.number > 30 {
			t.Errorf("figure %d stands behind %d", f.number, last)
		}
		last = f.number
		if f.name == "" || f.run == nil || f.conditions[scaled] == "" || f.conditions[full] == "" {
			t.Errorf("figure %d lacks something: %+v", f.number, f)
		}
	}
}

// TestEachFigureIsInThePage: docs/contributing/chaos.md tells what each figure means.
func TestEachFigureIsInThePage(t *testing.T) {
	page, err := os.ReadFile("../../docs/contributing/chaos.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range allFigures() {
		row := regexp.MustCompile(fmt.Sprintf(`(?m)^\| (\d+, )?%d(, \d+)? \| `, f.number))
		if !row.Match(page) {
			t.Errorf("docs/contributing/chaos.md has no row for figure %d", f.number)
		}
	}
}

// TestLayersAreThere: who moves a function finds out here, and not when figure 30 is run.
func TestLayersAreThere(t *testing.T) {
	for _, l := range layers {
		if _, _, err := l.place("../.."); err != nil {
			t.Error(err)
		}
	}
}

func TestChoose(t *testing.T) {
	all := []figure{{number: 1, conditions: [3]string{"a", "b", "c"}}, {number: 2, conditions: [3]string{"", "b", "c"}}}
	for _, test := range []struct {
		numbers string
		size    size
		want    string
	}{
		{"", short, "[1]"},
		{"", full, "[1 2]"},
		{"2, 1", scaled, "[2 1]"},
		{"2", short, "-figures: figure 2 is not there in this size"},
		{"3", full, "-figures: there is no figure 3"},
		{"x", full, `-figures: "x" is no number`},
	} {
		chosen, err := choose(all, test.numbers, test.size)
		var numbers []int
		for _, f := range chosen {
			numbers = append(numbers, f.number)
		}
		got := fmt.Sprint(numbers)
		if err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("choose %q of size %d: %s, want %s", test.numbers, test.size, got, test.want)
		}
	}
}

func TestTableCountsWhatIsMissed(t *testing.T) {
	s := &suite{log: new(strings.Builder)}
	var tab table
	for n, run := range []func(context.Context, *suite) ([]row, error){
		func(context.Context, *suite) ([]row, error) {
			return []row{{"a", "0", "0", ok}, {"b", "0", "1", missed}, {"c", "", "2 | 3", shown}}, nil
		},
		func(context.Context, *suite) ([]row, error) { return nil, &notRun{"no redis"} },
		func(context.Context, *suite) ([]row, error) { return nil, fmt.Errorf("boom\nat length") },
		func(context.Context, *suite) ([]row, error) { return nil, nil },
	} {
		f := figure{number: n + 1, name: "f", conditions: [3]string{"some", "", ""}, run: run}
		for _, r := range s.figure(t.Context(), f) {
			tab.add(f, short, r)
		}
	}
	var b strings.Builder
	tab.markdown = true
	tab.print(&b)
	want := `| # | figure | goal | measured | |
|---|---|---|---|---|
| 1 | f: a | 0 | 0 | met |
| 1 | b | 0 | 1 | **missed** |
| 1 | c | – | 2 \| 3 | – |
| 2 | f | – | not run: no redis | not run |
| 3 | f | – | error: boom | **missed** |
| 4 | f | – | nothing | **missed** |
`
	if b.String() != want || tab.missed() != 3 {
		t.Errorf("%d missed in\n%s", tab.missed(), b.String())
	}
	if page, err := os.ReadFile("../../docs/contributing/chaos.md"); err != nil || !strings.Contains(string(page), "\n"+markdownHead+"\n") {
		t.Errorf("docs/contributing/chaos.md has no table of that kind: %v", err)
	}
}

func TestLoads(t *testing.T) {
	var seen [3]int
	tally := closedLoad(t.Context(), 3, 30, func(worker, n int) error {
		seen[worker]++
		if n%10 == 0 {
			return fmt.Errorf("call of ten")
		}
		return nil
	}).wait()
	if tally.made != 30 || tally.failed != 3 || len(tally.times) != 27 || seen != [3]int{10, 10, 10} || tally.failures() != "3 × call of ten" {
		t.Errorf("%+v, %v", tally, seen)
	}
	l := openLoad(t.Context(), 1000, 2, func(int, int) error { return nil })
	start := time.Now()
	time.Sleep(50 * time.Millisecond)
	tally = l.stop()
	if most := int(time.Since(start)/time.Millisecond) + 2; tally.made == 0 || tally.made > tally.due || tally.due > most || tally.failed != 0 || !slices.IsSorted(tally.times) {
		t.Errorf("%d calls, at most %d: %+v", tally.made, most, tally.failures())
	}
}

func TestTableRows(t *testing.T) {
	rows, err := tableRows("some words\n\nfigure          goal  measured\nfailed calls    0     0 of 10\ntime of a call        p50 1ms, p99 2ms\nfetches         1     2  MISSED\ntokens: 1 figures were missed\n", false)
	want := []row{{"failed calls", "0", "0 of 10", ok}, {"time of a call", "", "p50 1ms, p99 2ms", shown}, {"fetches", "1", "2", missed}}
	if err != nil || !slices.Equal(rows, want) {
		t.Errorf("%v, %v", rows, err)
	}
	if _, err := tableRows("figure  goal  measured\nboom\n", false); err == nil {
		t.Error("a program that failed has a table")
	}
}

func TestMessageIsTheLastEvent(t *testing.T) {
	for _, test := range [][2]string{
		{`{"id":1}`, `{"id":1}`},
		{"event: message\ndata: {\"method\":\"x\"}\n\n: still here\n\nevent: message\ndata: {\"id\":1}\n\n", `{"id":1}`},
		{"id: 5\ndata: \n\ndata: {\"id\":2}\n\n", `{"id":2}`},
	} {
		if got := string(message([]byte(test[0]))); got != test[1] {
			t.Errorf("message(%q) = %q", test[0], got)
		}
	}
}

// TestRacesAreLookedFor: figure 23 is met by the Makefile and .ci/run as they are, and by neither without one of its lines.
func TestRacesAreLookedFor(t *testing.T) {
	read := func(name string) string {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	makefile, ci := read("../../Makefile"), read("../../.ci/run")
	for _, r := range lookedFor(makefile, ci) {
		if r.verdict != ok {
			t.Errorf("%s: %s", r.what, r.measured)
		}
	}
	const races, vulnerabilities = 0, 1
	for _, test := range []struct {
		file, line, other string
		row               int
	}{
		{"Makefile", "test -race ", "test ", races},
		{"Makefile", "list ./... |", "list ./openapi |", races},
		{"Makefile", "grep -v '^drawbridge/test/')", "grep -v '^drawbridge/[ot]')", races},
		{"Makefile", "\ntest:", "\nothers:", races},
		{".ci/run", "make --no-print-directory test\n", "make --no-print-directory tidy\n", races},
		{".ci/run", "\nclosing=60 step test", "\n# step test", races},
		{"Makefile", "run $(GOVULNCHECK) ./cmd/drawbridge", "version", vulnerabilities},
		{".ci/run", "\tmake --no-print-directory vuln\n", "", vulnerabilities},
		{".ci/run", "\nstep vulnerabilities", "\n# step vulnerabilities", vulnerabilities},
		{".ci/run", "\nvulnerabilities() {\n", "\nvulnerabilities() {\n\treturn 0\n", vulnerabilities},
		{".ci/run", "\t\texit \"$absent\"\n", "\t\treturn 0\n", vulnerabilities},
	} {
		changed := map[string]string{"Makefile": makefile, ".ci/run": ci}
		if !strings.Contains(changed[test.file], test.line) {
			t.Errorf("%s has no %q", test.file, test.line)
		}
		changed[test.file] = strings.Replace(changed[test.file], test.line, test.other, 1)
		for i, r := range lookedFor(changed["Makefile"], changed[".ci/run"]) {
			if want := verdictOf(i != test.row); r.verdict != want {
				t.Errorf("%s with %q for %q, %s: %s %s, want %s", test.file, test.other, test.line, r.what, r.measured, r.verdict, want)
			}
		}
	}
}

// TestAttacksTakePlace: what is measured beside an attack that did not come is missed.
func TestAttacksTakePlace(t *testing.T) {
	hole := func(calm, ten tally, swallowed ...int64) string {
		text := ""
		for _, r := range (&turns{without: sides{nine: tally{made: 900}, ten: calm}, with: sides{nine: tally{made: 900}, ten: ten, swallowed: swallowed}}).rows(&suite{}, "")[1:4] {
			text += string(r.verdict) + " "
		}
		return text
	}
	for _, test := range []struct{ got, want string }{
		{hole(tally{made: 900}, tally{made: 900, failed: 900}, 600, 1), "ok ok ok "},
		{hole(tally{made: 900}, tally{made: 900, failed: 899}, 600), "MISSED ok ok "},
		{hole(tally{made: 900}, tally{made: 900, failed: 900}, 600, 0), "ok MISSED ok "},
		{hole(tally{made: 900}, tally{made: 900, failed: 900}), "ok MISSED ok "},
		{hole(tally{made: 900, failed: 900}, tally{made: 900, failed: 900}, 600), "ok ok MISSED "},
		{hole(tally{}, tally{}, 600), "MISSED ok MISSED "},
	} {
		if test.got != test.want {
			t.Errorf("%s, want %s", test.got, test.want)
		}
	}
	slow := func(come tally, open ...int) []row {
		var w slowness
		w.add([]int{1000}, 1000, &tally{made: 10}, &tally{made: 100}, &tally{made: 100}, 1, 0, process.Usage{})
		w.add(open, 1000, &come, &tally{made: 100}, &tally{made: 100}, 1, 0, process.Usage{})
		return w.rows(&suite{}, "head", 1000)
	}
	for _, test := range []struct {
		row  row
		want verdict
	}{
		{slow(tally{}, 950, 1000, 500)[0], ok},
		{slow(tally{}, 1000, 100, 100)[0], missed}, // they were there, and are no more
		{slow(tally{}, 949, 949, 1000)[0], missed},
		{slow(tally{}, 1000, 1000, 499)[0], missed},
		{(&slowness{}).rows(&suite{}, "head", 1000)[0], missed},
		{slow(tally{made: 10}, 1000)[1], ok},
		{slow(tally{made: 10, failed: 1}, 1000)[1], missed}, // as they come
		{(&slowness{buffers: 48_000 << 10}).rows(&suite{}, "head", 1000)[6], ok},
		{(&slowness{buffers: 48_001 << 10}).rows(&suite{}, "head", 1000)[6], missed},
	} {
		if test.row.verdict != test.want {
			t.Errorf("%+v, want %s", test.row, test.want)
		}
	}
}

// TestServiceComesToRest: a connection on which something runs is no connection that rests.
func TestServiceComesToRest(t *testing.T) {
	come, goOn := make(chan struct{}), make(chan struct{})
	s, err := newService(func(w http.ResponseWriter, _ *http.Request) {
		come <- struct{}{}
		<-goOn
		answerJSON(w, "{}")
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	c, err := wire.Dial(s.host)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Send([]byte("GET / HTTP/1.1\r\nHost: s\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	timebox.Wait(t, come)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.rest(ctx); err == nil || !strings.Contains(err.Error(), "1 connections of a service don't come to rest") {
		t.Errorf("with a call that runs: %v", err)
	}
	close(goOn)
	if err := s.rest(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestRecovery: it is the last call that failed or was slow, and calls that all fail have not recovered.
func TestRecovery(t *testing.T) {
	const slow = 400 * time.Millisecond
	ended := time.Now()
	at := func(due, took time.Duration, failed bool) mark { return mark{ended.Add(due), took, failed} }
	for _, test := range []struct {
		name  string
		marks []mark
		after time.Duration
		want  verdict
	}{
		{"all well", []mark{at(0, slow, false), at(time.Second, slow, false)}, 0, ok},
		{"slow, then well", []mark{at(time.Second, 2*slow, false), at(1100*time.Millisecond, slow, false)}, time.Second, ok},
		{"failed, then well", []mark{at(time.Second, 0, true), at(1100*time.Millisecond, slow, false)}, time.Second, ok},
		{"failed late", []mark{at(time.Second, slow, false), at(3*time.Second, 0, true), at(3100*time.Millisecond, slow, false)}, 3 * time.Second, missed},
		{"all failed", []mark{at(0, 0, true), at(time.Second, 0, true)}, time.Second, missed},
		{"failed at last", []mark{at(0, slow, false), at(time.Second, 0, true)}, time.Second, missed},
		{"no call", nil, 0, missed},
	} {
		after, well := (&tally{marks: test.marks}).recovered(ended, slow)
		if got := recovery(&suite{size: scaled}, after, well); after != test.after || got != test.want {
			t.Errorf("%s: %s after %s, want %s after %s", test.name, got, after, test.want, test.after)
		}
	}
}

func TestInvited(t *testing.T) {
	for _, test := range []struct {
		text string
		err  error
		want string
	}{
		{"", nil, "<nil>"},
		{`The service "things" is busy. Try again in 1 second.`, errTool, "told to come again"},
		{"Try again in 12 seconds.", errTool, "told to come again"},
		{"can't be reached. Try again in a minute; if", errTool, "isError: can't be reached. Try again in a minute; if"},
		{"internal error", errTool, "isError: internal error"},
		{"", &refusal{503, "1", "busy"}, "told to come again"},
		{"", &refusal{503, "", "busy"}, "status 503: busy"},
	} {
		if got := fmt.Sprint(invited(test.text, test.err)); got != test.want {
			t.Errorf("%q, %v: %s, want %s", test.text, test.err, got, test.want)
		}
	}
}

// TestFailedCallsHaveNoTime: a call that fails comes back as quickly as any, with status 200.
func TestFailedCallsHaveNoTime(t *testing.T) {
	calls := 0
	w, err := newRoute(func() (wire.Answer, error) {
		if calls++; calls == 1 {
			return wire.Answer{Status: http.StatusOK, Body: []byte(`{"result":{"content":[{"text":"{}"}]}}`)}, nil
		}
		return wire.Answer{Status: http.StatusOK, Body: []byte(`{"result":{"content":[{"text":"one answered 502"}],"isError":true}}`)}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if times, err := (rhythm{}).window(t.Context(), time.Minute, w); err == nil || !strings.Contains(err.Error(), "answered 502") {
		t.Errorf("%d times, %v", len(times), err)
	}
}

// TestMutated: make mutate fails for a reason of what does not survive too, which is in no column of its table.
func TestMutated(t *testing.T) {
	const head = "group       changes  noticed    by time   survived  reasons    score\n"
	for _, test := range []struct {
		line string
		well bool
		want string
	}{
		{"guard           106      105          0          1        1    99.1%  (40 s)\n", true, "ok ok <nil>"},
		{"guard           106      105          0          1        0    99.1%  (40 s)\n", false, "ok MISSED <nil>"},
		{"guard           106       80          0         26       26    75.5%  (40 s)\n", false, "MISSED ok <nil>"},
		{"guard           106      105          0          1        1    99.1%  (40 s)\na reason is given for what does not survive: x", false, "ok ok it failed"},
		{"make: *** [Makefile:92: mutate] Error 1\n", false, "it failed"},
	} {
		rows, err := mutated(head+test.line, test.well)
		got := ""
		for _, r := range rows {
			got += string(r.verdict) + " "
		}
		first, _, _ := strings.Cut(fmt.Sprint(err), ":\n")
		if got += first; got != test.want {
			t.Errorf("%q: %s, want %s", test.line, got, test.want)
		}
	}
}

// TestAbsent: a server that could not be had is not run, however well the others did.
func TestAbsent(t *testing.T) {
	rows := absent("=== RUN   TestPaths\npaths: not run: apache\n    paths: not run: node (its packages)\n    paths_test.go:86: 73 payloads, 7 stacks, 1533 calls\nit was not run: so\n")
	want := []row{{"apache", "", "not run", notMeasured}, {"node (its packages)", "", "not run", notMeasured}}
	if !slices.Equal(rows, want) {
		t.Errorf("%+v", rows)
	}
}

// TestBorrowedProgramsEnd: what a command has started ends with it.
func TestBorrowedProgramsEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	dir := t.TempDir()
	began := filepath.Join(dir, "began")
	go func() {
		defer cancel()
		for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
			if _, err := os.Stat(began); err == nil {
				return
			}
		}
	}()
	start := time.Now()
	if err := syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	// The outer shell does not become the inner one, since it has something to do after it; the inner one waits for ever and starts nothing.
	_, _, err := (&suite{root: dir}).borrow(ctx, "sh", "-c", "sh -c ': >began; read x <fifo'; true")
	if took := time.Since(start); !errors.Is(err, context.Canceled) || took > 5*time.Second {
		t.Errorf("%v after %s", err, took)
	}
}

// TestFiguresWithAClockRunAlone: nothing else runs beside them, and three at most of those that only count.
func TestFiguresWithAClockRunAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		running, most, order := 0, 0, ""
		var all []figure
		for n := 1; n <= 6; n++ {
			counts := 0
			if n%3 != 0 {
				counts = 7 - n // the longest first
			}
			all = append(all, figure{number: n, counts: counts, run: func(_ context.Context, s *suite) ([]row, error) {
				mu.Lock()
				running++
				most = max(most, running)
				if n%3 == 0 && (running > 1 || strings.ContainsAny(order, "1245")) {
					t.Errorf("figure %d does not run alone: %s", n, order)
				}
				order += fmt.Sprint(n)
				mu.Unlock()
				time.Sleep(time.Duration(n) * time.Second)
				mu.Lock()
				defer mu.Unlock()
				running--
				return []row{{what: filepath.Base(s.dir)}}, nil
			}})
		}
		dirs := map[string]bool{}
		for i, rows := range (&suite{log: io.Discard}).figures(t.Context(), all) {
			if len(rows) != 1 {
				t.Fatalf("figure %d has %d rows", i+1, len(rows))
			}
			dirs[rows[0].what] = true
		}
		if most != 3 || len(dirs) != len(all) {
			t.Errorf("%d at once, in %d folders: %s", most, len(dirs), order)
		}
		if first := strings.Split(order[2:5], ""); order[:2] != "36" || !slices.Equal(slices.Sorted(slices.Values(first)), []string{"2", "4", "5"}) || order[5:] != "1" {
			t.Errorf("in this order: %s", order)
		}
	})
}
