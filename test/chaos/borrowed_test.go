package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestTestsRow: a test that was skipped, or that is not there any more, has not passed, however many others have.
func TestTestsRow(t *testing.T) {
	const a, b = "--- PASS: TestA (0.00s)\n    --- PASS: TestA/one (0.00s)\n", "--- PASS: TestB (0.00s)\n"
	for _, test := range []struct {
		pattern, printed string
		well             bool
		want             string
	}{
		{"^TestA$", a, true, "2 cases pass, 0 fail ok <nil>"},
		{"^(TestA|TestB)$", a + b, true, "3 cases pass, 0 fail ok <nil>"},
		{"^(TestA|TestB)$", a, true, "2 cases pass, 0 fail, not passed: TestB MISSED <nil>"},
		{"^(TestA|TestB)$", a + "--- SKIP: TestB (0.00s)\n", true, "2 cases pass, 0 fail, not passed: TestB MISSED <nil>"},
		{"^(TestA|TestB)$", a + "--- SKIP: TestB (0.00s)\n" + b, true, "3 cases pass, 0 fail, not passed: TestB MISSED <nil>"}, // of another package
		{"^TestOne$", "--- PASS: TestOneMore (0.00s)\n", true, "1 cases pass, 0 fail, not passed: TestOne MISSED <nil>"},
		{"^Test", a + "--- SKIP: TestB (0.00s)\n", true, "2 cases pass, 0 fail, not passed: TestB MISSED <nil>"},
		{"^Fuzz", "--- PASS: FuzzA (0.00s)\n    --- SKIP: FuzzA/seed#0 (0.00s)\n", true, "1 cases pass, 0 fail ok <nil>"},
		{"^TestA$", a, false, "2 cases pass, 0 fail MISSED <nil>"},
		{"^TestA$", "--- FAIL: TestA (0.00s)\n", false, "0 cases pass, 1 fail, not passed: TestA MISSED <nil>"},
		{"^TestA$", "testing: warning: no tests to run\n", true, "0 cases pass, 0 fail, not passed: TestA MISSED <nil>"},
		{"^TestA$", "--- SKIP: TestA (0.00s)\n", true, "  not run: its tests are skipped here"},
		{"^TestA$", "--- SKIP: TestA (0.00s)\n--- FAIL: TestA (0.00s)\n", false, "0 cases pass, 1 fail, not passed: TestA MISSED <nil>"},
	} {
		r, err := testsRow("", test.pattern, test.printed, test.well)
		if got := fmt.Sprintf("%s %s %v", r.measured, r.verdict, err); got != test.want {
			t.Errorf("%s in %q: %s, want %s", test.pattern, test.printed, got, test.want)
		}
	}
}

// TestTargetThatIsNotThere: a target that has another name now is missed, and not left out.
func TestTargetThatIsNotThere(t *testing.T) {
	rows, _, err := (&suite{root: t.TempDir(), log: io.Discard}).target(t.Context(), "", "", `\d+`, "nothing")
	if err != nil || len(rows) != 1 || rows[0].verdict != missed {
		t.Errorf("%+v, %v", rows, err)
	}
}

// TestNothingIsLeftBehind: what a command that has failed has started and not ended runs beside no other figure.
func TestNothingIsLeftBehind(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	running, err := os.OpenFile(fifo, os.O_RDONLY|syscall.O_NONBLOCK, 0) // which ends when nobody has it open for writing
	if err != nil {
		t.Fatal(err)
	}
	defer running.Close()
	if err := running.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	_, well, err := (&suite{root: filepath.Dir(fifo)}).borrow(t.Context(), "sh", "-c", "exec 3>fifo; sleep 60 >/dev/null 2>&1 & exit 1")
	if well || err != nil {
		t.Errorf("well: %v, %v", well, err)
	}
	if _, err := io.ReadAll(running); err != nil {
		t.Errorf("it is still there: %v", err)
	}
}

// TestConforming: all suites count, and one that fails is missed whatever it has printed.
func TestConforming(t *testing.T) {
	const two = "  30 of 30 scenarios without a failure or a warning, 9 checks\nconformance a: passes\n  9 of 10 scenarios without a failure or a warning, 9 checks\n"
	for _, test := range []struct {
		printed string
		well    bool
		want    string
	}{
		{two, true, "39 of 40 scenarios of 2 suites without a failure or a warning MISSED"},
		{strings.ReplaceAll(two, "9 of 10", "10 of 10"), true, "40 of 40 scenarios of 2 suites without a failure or a warning ok"},
		{strings.ReplaceAll(two, "9 of 10", "10 of 10"), false, "40 of 40 scenarios of 2 suites without a failure or a warning MISSED"},
		{"", true, "0 of 0 scenarios of 0 suites without a failure or a warning MISSED"},
	} {
		r := conforming(test.printed, test.well)[0]
		if got := fmt.Sprint(r.measured, " ", r.verdict); got != test.want {
			t.Errorf("%q: %s, want %s", test.printed, got, test.want)
		}
	}
}

// TestImageSizes: each image is judged by itself, once.
func TestImageSizes(t *testing.T) {
	const printed = "  linux/amd64 as user 65532:65532: 15.2 MB compressed, sha256:00\n  linux/arm64 as user 65532:65532: 25.1 MB compressed, sha256:11\n"
	got := fmt.Sprint(imageSizes(printed+printed), imageSizes(""))
	if want := "[{size of linux/amd64 <= 25 MB 15.2 MB ok} {size of linux/arm64 <= 25 MB 25.1 MB MISSED}] [{size <= 25 MB not printed MISSED}]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestVulnerabilities: without the database nothing was looked for, and no goal is met.
func TestVulnerabilities(t *testing.T) {
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	rows, err := (&suite{root: t.TempDir(), log: io.Discard}).vulnerabilities(t.Context(), closed.URL)
	if got, want := fmt.Sprint(rows, err), "[{known vulnerabilities none their database can't be reached not run}] <nil>"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	open := httptest.NewServer(http.NotFoundHandler())
	defer open.Close()
	rows, err = (&suite{root: t.TempDir(), log: io.Discard}).vulnerabilities(t.Context(), open.URL) // there is no Makefile
	if err != nil || len(rows) != 1 || rows[0].verdict != missed {
		t.Errorf("%v, %v", rows, err)
	}
}
