package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// goals are the most calls and tokens of answers that a task may take, in the median.
const (
	mostCalls  = 6
	mostTokens = 1500
)

// report prints a table of all tasks, and returns an error if one is not solved or a median is over its goal.
func report(out io.Writer, by string, all []outcome) error {
	fmt.Fprintf(out, "\n| task, by %s | solved | calls | tokens |\n|---|---|---:|---:|\n", by)
	solved := 0
	var calls, tokens []int
	for _, o := range all {
		verdict := "no"
		if len(o.faults) == 0 {
			verdict = "yes"
			solved++
		}
		calls, tokens = append(calls, o.calls), append(tokens, o.tokens)
		fmt.Fprintf(out, "| %s | %s | %d | %d |\n", o.task, verdict, o.calls, o.tokens)
	}
	fmt.Fprintf(out, "| **%d of %d, median** | | **%d** | **%d** |\n| in all | | %d | %d |\n", solved, len(all), median(calls), median(tokens), sum(calls), sum(tokens))
	for _, o := range all {
		if len(o.faults) > 0 {
			fmt.Fprintf(out, "\n%s:\n  %s\n", o.task, strings.Join(o.faults, "\n  "))
		}
	}
	var missed []error
	if solved < len(all) {
		missed = append(missed, fmt.Errorf("%d of %d tasks are not solved", len(all)-solved, len(all)))
	}
	if m := median(calls); m > mostCalls {
		missed = append(missed, fmt.Errorf("the median task takes %d calls, more than %d", m, mostCalls))
	}
	if m := median(tokens); m > mostTokens {
		missed = append(missed, fmt.Errorf("the answers of the median task have %d tokens, more than %d", m, mostTokens))
	}
	return errors.Join(missed...)
}

func median(all []int) int {
	if len(all) == 0 {
		return 0
	}
	return slices.Sorted(slices.Values(all))[len(all)/2]
}

func sum(all []int) (n int) {
	for _, value := range all {
		n += value
	}
	return n
}
