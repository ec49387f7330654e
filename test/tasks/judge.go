package main

import (
	"context"
	"fmt"
	"reflect"
	"strings"
)

// judge returns what is not as the task wants it: the state of the services, and the answer of who did the task.
func (w *world) judge(ctx context.Context, t *task, v values, answer string) (faults []string) {
	for _, c := range t.state {
		if fault := w.holds(ctx, c, v); fault != "" {
			faults = append(faults, fault)
		}
	}
	for _, part := range t.answer {
		part, err := v.text(part)
		if err != nil {
			faults = append(faults, err.Error())
		} else if !shows(strings.ToLower(answer), strings.ToLower(part)) {
			faults = append(faults, fmt.Sprintf("the answer %.200q doesn't have %q", answer, part))
		}
	}
	return faults
}

// holds returns an empty string if a check holds.
func (w *world) holds(ctx context.Context, c check, v values) string {
	answer, err := w.send(ctx, c.request, v)
	if err != nil {
		return "state: " + err.Error()
	}
	got, err := ask(c.Query, parse(answer), v)
	if err != nil {
		return err.Error()
	}
	want, err := v.expand(c.Is)
	if err != nil {
		return err.Error()
	}
	if !equal(got, want) {
		return fmt.Sprintf("state: %s %s: %s is %.200s, expected %s", c.Service, c.Path, c.Query, compact(got), compact(want))
	}
	return ""
}

// equal compares JSON values; a query in jq may have made an int of a number.
func equal(a, b any) bool { return reflect.DeepEqual(parse(compact(a)), parse(compact(b))) }
