package main

import (
	"encoding/json"
	"testing"
)

// TestDifferences has places where values differ, and holds that a value does not differ from itself (pains row 200).
func TestDifferences(t *testing.T) {
	for _, tt := range []struct{ was, now, want string }{
		{`{"a":1,"b":[1,2]}`, `{"b":[1,2],"a":1}`, ``},
		{`{"a/b":{"c":1}}`, `{"a/b":{"c":2}}`, `/a~1b/c: 1 before, 2 now; `},
		{`{"a":1}`, `{"b":1}`, `/a is left out: 1; /b is new: 1; `},
		{`[1,2]`, `[1,2,3]`, `: [1,2] before, [1,2,3] now; `},
		{`[1,{"a":false}]`, `[1,{"a":true}]`, `/1/a: false before, true now; `},
		{`{"a":"x"}`, `{"a":{"b":1}}`, `/a: "x" before, {"b":1} now; `},
		{`{"a":{"b":1}}`, `{"a":[1]}`, `/a: {"b":1} before, [1] now; `},
	} {
		var was, now any
		if err := json.Unmarshal([]byte(tt.was), &was); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(tt.now), &now); err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, d := range differences(nil, "", was, now) {
			got += d.String() + "; "
		}
		if got != tt.want {
			t.Errorf("%s and %s: %s, want %s", tt.was, tt.now, got, tt.want)
		}
		if same := differences(nil, "", was, was); len(same) > 0 {
			t.Errorf("%s differs from itself: %v", tt.was, same)
		}
	}
}
