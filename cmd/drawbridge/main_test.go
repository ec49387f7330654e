package main

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"
)

var accept = flag.Bool("update", false, "accept what the scripts give")

// TestMain also lets the test binary be the program: the scripts run it under the name drawbridge.
func TestMain(m *testing.M) {
	testscript.Main(leakChecked{m}, map[string]func(){"drawbridge": main})
}

// leakChecked fails a run that leaves goroutines behind, as goleak.VerifyTestMain does.
type leakChecked struct{ m *testing.M }

// Run implements [testscript.TestingM].
func (l leakChecked) Run() int {
	code := l.m.Run()
	if code != 0 {
		return code
	}
	if err := goleak.Find(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
