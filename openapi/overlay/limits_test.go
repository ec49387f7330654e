package overlay

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"drawbridge/openapi/tree"
	"drawbridge/test/race"
	"drawbridge/test/timebox"
)

// large returns a document with an object of many members that each have an object.
func large(members int) txtar.File {
	var b strings.Builder
	b.WriteString(`{"openapi":"3.1.0","info":{"title":"T","version":"1"},"paths":{},"x":{`)
	for i := range members {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"m%d":{"a":%d}`, i, i)
	}
	b.WriteString("}}")
	return txtar.File{Name: "openapi.json", Data: []byte(b.String())}
}

func overlayOf(actions string) []File {
	return []File{{Location: "overlay.yaml", Data: []byte("overlay: 1.1.0\ninfo: {title: T, version: '1'}\nactions:\n" + actions)}}
}

// TestLimits checks that overlays whose work or result would be too large are refused with their positions.
func TestLimits(t *testing.T) {
	const members = 150_000
	for name, c := range map[string]struct {
		actions, want string
		document      txtar.File
		limits        tree.Limits
	}{
		"matches":        {"- {target: $..*, update: {b: 1}}\n", `overlay.yaml:4:4: target "$..*" selects more than 200000 values; narrow it`, large(members), tree.Limits{}},
		"filters":        {"- {target: '$..[?@.a[0]]', update: {b: 1}}\n- {target: '$.x.*[?@ == 1]', update: 1}\n", "", large(members), tree.Limits{}},
		"found filters":  {"- {target: '$..[?@..[?@..a]]', update: {b: 1}}\n", "", large(members), tree.Limits{}},
		"nested filters": {"- {target: '$..[?count($..[?count(@..a)>1])>1]', remove: true}\n", `overlay.yaml:4:4: target "$..[?count($..[?count(@..a)>1])>1]" takes too long for a document of this size; use fewer descendant segments (..), filters and actions, and shorter regular expressions`, large(members), tree.Limits{}},
		"root filters":   {"- {target: '$.x[?$..b == @.a]', remove: true}\n", `overlay.yaml:4:4: actions[0].target: "$.x[?$..b == @.a]" is not a JSONPath query of RFC 9535, such as $.paths['/orders'].get: at character 6: only literals, queries that lead to one value, and functions that return a value can be compared`, large(10), tree.Limits{}},
		"root counts":    {"- {target: '$.x[?count($..a) > 1]', remove: true}\n", `overlay.yaml:4:4: target "$.x[?count($..a) > 1]" takes too long for a document of this size; use fewer descendant segments (..), filters and actions, and shorter regular expressions`, large(members), tree.Limits{}},
		"size": {"- {target: $.x.*, update: {b: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]}}\n",
			"overlay.yaml:4:44: more than 1800000 values; split the document, or raise the limit if you trust its author", large(members), tree.Limits{}},
		"memory": {"- {target: $.x.*, update: {b: [1, 2, 3, 4]}}\n", "all that there is for a document; split it, or give the gateway more memory", large(members), tree.Limits{Memory: 64 << 20}},
		"depth": {"- {target: $.x.m0, update: {b: {b: {b: {b: {}}}}}}\n- {target: $.x.m0.b.b.b.b, copy: $.x.m0}\n",
			"nested more than 9 levels deep once it is in the document", large(1), tree.Limits{Depth: 9}},
		"references": {"- {target: $.x.*, update: {$ref: '#/info'}}\n", "overlay.yaml:4:28: more than 3 references; split the document, or raise the limit if you trust its author", large(5), tree.Limits{Refs: 3}},
		"actions":    {strings.Repeat("- {target: $.x}\n", maxActions+1), "overlay.yaml:3:1: actions: has 10001 actions; an overlay may have at most 10000: split it", large(1), tree.Limits{}},
	} {
		t.Run(name, func(t *testing.T) {
			if race.Enabled && len(c.document.Data) > 1<<20 {
				t.Skip("takes too long with the race detector")
			}
			timebox.Processor(t, 20*time.Second, func() {
				_, _, err := apply(c.document, overlayOf(c.actions), c.limits)
				switch {
				case c.want == "" && err != nil:
					t.Error(err)
				case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
					t.Errorf("got  %v\nwant %s", err, c.want)
				}
			})
		})
	}
}

// TestDoublingDocument checks that a document that copies itself into itself exceeds the limit of values.
func TestDoublingDocument(t *testing.T) {
	var b strings.Builder
	for i := range 60 {
		fmt.Fprintf(&b, "- {target: $.x, update: {n%d: {}}}\n- {target: $.x.n%d, copy: $.x, x-n: %d}\n", i, i, i)
	}
	_, _, err := apply(large(3), overlayOf(b.String()), tree.Limits{})
	if err == nil || !strings.Contains(err.Error(), "more than") {
		t.Error(err)
	}
}
