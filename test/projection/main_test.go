package main

import (
	"io"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestGoal: on answers that services give, expressions save 90 % of the tokens, and every result is valid JSON.
func TestGoal(t *testing.T) {
	all, err := read("testdata")
	if err != nil || len(all) < 20 {
		t.Fatal(len(all), err)
	}
	if err := run(io.Discard, "testdata", 90); err != nil {
		t.Error(err)
	}
}
