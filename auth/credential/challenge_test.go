package credential

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// show writes challenges down.
func show(challenges []challenge) string {
	var all []string
	for _, c := range challenges {
		text := c.scheme
		for _, name := range slices.Sorted(maps.Keys(c.parameters)) {
			text += fmt.Sprintf(" %s=%q", name, c.parameters[name])
		}
		all = append(all, text)
	}
	return strings.Join(all, "; ")
}

func TestChallenges(t *testing.T) {
	for _, c := range []struct {
		header, want string // want is "-" for what can't be read
		blames       bool
	}{
		{"", "", true},
		{`Bearer`, `bearer`, true},
		{`Bearer realm="x"`, `bearer realm="x"`, true},
		{`Bearer error="invalid_token", error_description="it, has \"ended\""`, `bearer error="invalid_token" error_description="it, has \"ended\""`, true},
		{`bearer ERROR = insufficient_scope`, `bearer error="insufficient_scope"`, false},
		{`Bearer error="invalid_request"`, `bearer error="invalid_request"`, false},
		{`Basic realm="a", charset="UTF-8", Bearer realm="b", error="invalid_token"`, `basic charset="UTF-8" realm="a"; bearer error="invalid_token" realm="b"`, true},
		{`Basic realm="a"|Bearer`, `basic realm="a"; bearer`, true},
		{`Negotiate`, `negotiate`, false},
		{`Negotiate YII=, Basic realm="a"`, `negotiate; basic realm="a"`, false},
		{`Negotiate YII==`, `negotiate`, false},
		{`,, Basic ,`, `basic`, false},
		{`Bearer error="`, "-", true},
		{`Bearer error`, `bearer`, true}, // a token68
		{`Bearer a=1 b=2`, "-", true},
		{`Bearer a=1, a=2`, "-", true},
		{`realm="x"`, "-", true},
		{`Bearer;x`, "-", true},
		{`Bearer "x"`, "-", true},
		{`Bearer ="x"`, "-", true},
		{`Basic realm`, `basic`, false},
		{`Basic realm;`, "-", true},
		{`Bearer a=b==`, "-", true},
		{`Bearer a b`, "-", true},
		{`Basic, "x"`, "-", true},
		{`Bearer a="b\`, "-", true},
		{`Negotiate/YII=`, "-", true},
		{`Negotiate a!b`, "-", true},
		{`Bearer ` + strings.Repeat("a", maxChallengeBytes-len("Bearer ")), `bearer`, true},
		{`Bearer ` + strings.Repeat("a", maxChallengeBytes-len("Bearer ")+1), "-", true},
		{strings.Repeat("A,", maxChallenges+1), "-", true},
		{`Bearer x="` + strings.Repeat("a", maxChallengeBytes) + `"`, "-", true},
	} {
		var values []string
		if c.header != "" {
			values = strings.Split(c.header, "|")
		}
		challenges, ok := parseChallenges(values)
		got := show(challenges)
		if !ok {
			got = "-"
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%.60s: %s", c.header, diff)
		}
		if blames := blamesToken(http.Header{"Www-Authenticate": values}); blames != c.blames {
			t.Errorf("%.60s: %t", c.header, blames)
		}
	}
}

// FuzzWWWAuthenticate: whatever a service sends, reading ends within bounds,
// and what was read is read in the same way when it is written down again.
func FuzzWWWAuthenticate(f *testing.F) {
	f.Add(`Basic realm="a", Bearer error="invalid_token", error_description="x\"y"`, `Negotiate YII=`)
	f.Add(`bearer a = b ,,c="d"`, ``)
	f.Fuzz(func(t *testing.T, first, second string) {
		challenges, ok := parseChallenges([]string{first, second})
		blamesToken(http.Header{"Www-Authenticate": {first, second}})
		if !ok {
			if challenges != nil {
				t.Fatal("half an answer")
			}
			return
		}
		if len(challenges) > maxChallenges {
			t.Fatal(len(challenges))
		}
		var lines []string
		size := 0
		for _, c := range challenges {
			line := c.scheme
			for i, name := range slices.Sorted(maps.Keys(c.parameters)) {
				line += map[bool]string{true: " ", false: ", "}[i == 0] + name + `="` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(c.parameters[name]) + `"`
			}
			lines = append(lines, line)
			size += len(line)
		}
		if size > maxChallengeBytes {
			return
		}
		again, ok := parseChallenges(lines)
		if !ok || show(again) != show(challenges) {
			t.Fatalf("%q\n%s\n%s", lines, show(challenges), show(again))
		}
	})
}
