package main

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"drawbridge/test/figures"
	"drawbridge/test/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestOutcomes(t *testing.T) {
	const done = `{"result":{"content":[{"type":"text","text":"{\"done\":true}"}]}}`
	for _, c := range []struct {
		a    wire.Answer
		err  error
		want string
	}{
		{wire.Answer{Status: 200, Body: []byte(done)}, nil, "ok"},
		{wire.Answer{Status: 200, Body: []byte(strings.Replace(done, `"content"`, `"isError":true,"content"`, 1))}, nil, "200"},
		{wire.Answer{Status: 200, Body: []byte(`{}`)}, nil, "200"},
		{wire.Answer{Status: 401, Body: []byte(done)}, nil, "401"},
		{wire.Answer{Status: 503, RetryAfter: "10"}, nil, "503+retry"},
		{wire.Answer{Status: 200, Body: []byte(done)}, errors.New("reset"), "no answer"},
	} {
		if got := outcomeOf(c.a, c.err); got != c.want {
			t.Errorf("%d %s: %s, want %s", c.a.Status, c.a.Body, got, c.want)
		}
	}
}

// missed are the names of the figures that miss their goals, in short.
func missed(all []figures.Figure) (names []string) {
	for _, f := range all {
		if !f.Met {
			_, name, _ := strings.Cut(f.Name, ": ")
			names = append(names, strings.Fields(name)[0])
		}
	}
	return names
}

// TestFloods: a flood that was none, or to which something else was said, misses a goal.
func TestFloods(t *testing.T) {
	for name, c := range map[string]struct {
		r    floodReport
		want string
	}{
		"as it should be": {floodReport{100, outcomes{"401": 5, "503+retry": 90}}, ""},
		"empty":           {floodReport{0, outcomes{}}, "tokens neither"},
		"nobody came":     {floodReport{100, outcomes{}}, "tokens neither"},
		"too few":         {floodReport{100, outcomes{"401": 94}}, "tokens"},
		"no answers":      {floodReport{100, outcomes{"no answer": 100}}, "neither"},
		"one let in":      {floodReport{100, outcomes{"401": 99, "ok": 1}}, "neither"},
		"not told when":   {floodReport{100, outcomes{"401": 99, "503": 1}}, "neither"},
		"out of budget":   {floodReport{100, outcomes{"401": 99, "429+retry": 1}}, "neither"},
	} {
		if got := strings.Join(missed(judgeFlood(c.r, 1000)), " "); got != c.want {
			t.Errorf("%s: missed are %q, want %q", name, got, c.want)
		}
	}
}

// TestWindowsBesideFloods: requests that came to nothing stood beside nobody.
func TestWindowsBesideFloods(t *testing.T) {
	for _, c := range []struct {
		kind string
		r    floodReport
		want string
	}{
		{unknownKeys, floodReport{100, outcomes{"401": 5, "503+retry": 90}}, "<nil>"},
		{noToken, floodReport{100, outcomes{"401": 95}}, "<nil>"},
		{noToken, floodReport{100, outcomes{"401": 99, "503+retry": 1}}, "beside good tokens 1 requests of 100 were not refused: 503+retry: 1"},
		{unknownKeys, floodReport{100, outcomes{"no connection": 100}}, "beside good tokens 100 requests of 100 were not refused: no connection: 100"},
		{unknownKeys, floodReport{100, outcomes{"503+retry": 99, "no answer": 1}}, "beside good tokens 1 requests of 100 were not refused: no answer: 1"},
		{noToken, floodReport{100, outcomes{"401": 1}}, "<nil>"}, // judgeBeside tells
		{noToken, floodReport{0, outcomes{}}, "beside good tokens 0 requests of 0 were made"},
	} {
		if got := fmt.Sprint(c.r.stood(c.kind)); got != c.want {
			t.Errorf("%s, %v: %s, want %s", c.kind, c.r, got, c.want)
		}
	}
}

// TestFloodsThatWereNone: a flood that was none in one of the windows is told, whatever the others were.
func TestFloodsThatWereNone(t *testing.T) {
	window := func(flood, other int) turn {
		return turn{beside: [kinds]floodReport{flooded: {100, outcomes{"401": flood - 10, "503+retry": 10}}, elsewhere: {100, outcomes{"401": other}}}}
	}
	for _, c := range []struct {
		all  []turn
		want string
		met  bool
	}{
		{[]turn{window(100, 96), window(95, 100)}, "95 % (95 of 100)", true},
		{[]turn{window(100, 100), window(100, 94), window(99, 100)}, "94 % (94 of 100)", false},
		{[]turn{{}}, "0 % (0 of 0)", false},
	} {
		if f := judgeBeside(c.all, 10); f.Measured != c.want || f.Met != c.met || f.Goal != ">= 95 % of 10 a second" {
			t.Errorf("%s of %s, met is %v; want %s", f.Measured, f.Goal, f.Met, c.want)
		}
	}
}

// TestFetches: keys that were not fetched after each rotation can't be those that were judged by.
func TestFetches(t *testing.T) {
	for fetches, want := range map[int]bool{0: false, 3: false, 4: true, 5: true, 6: false} {
		if f := judgeFetches(fetches, 4, 1); f.Met != want {
			t.Errorf("%d fetches, %s: met is %v", fetches, f.Goal, f.Met)
		}
	}
}

// TestTimes: windows are held against those of their own turn.
func TestTimes(t *testing.T) {
	window := func(alone, others, keys int) turn {
		return turn{p99: [kinds]time.Duration{
			calm: time.Duration(alone) * time.Millisecond, refused: time.Duration(others) * time.Millisecond, flooded: time.Duration(keys) * time.Millisecond,
		}}
	}
	for name, c := range map[string]struct {
		all      []turn
		met      bool
		measured string // the beginning
	}{
		"slower by the hour":  {[]turn{window(1, 1, 1), window(10, 10, 10), window(100, 100, 101)}, true, "+0 % (+0 to +1), 10ms, then 10ms "},
		"slower by the flood": {[]turn{window(10, 11, 11), window(10, 11, 12), window(10, 11, 11)}, false, "+10 % (+10 to +20), 10ms, then 11ms "},
		"no call":             {[]turn{window(0, 0, 0)}, false, "-100 %"},
	} {
		for rows, compare := range map[int]bool{1: false, 3: true} {
			judged := judgeTimes(c.all, 1000, compare)
			if f := judged[0]; f.Met != c.met || !strings.HasPrefix(f.Measured, c.measured) || len(judged) != rows || rows > 1 && !judged[1].Met {
				t.Errorf("%s: %d rows, %s, met: %v", name, len(judged), f.Measured, f.Met)
			}
		}
	}
	l := &load{}
	start := time.Unix(0, 0)
	for n := range 200 {
		l.marks = append(l.marks, mark{start.Add(time.Duration(n) * time.Second), time.Duration(n)})
	}
	one := turn{}
	one.from[flooded], one.to[flooded] = start, start.Add(100*time.Second)
	if one.read(l); one.p99 != [kinds]time.Duration{flooded: 99} {
		t.Errorf("p99 is %v", one.p99)
	}
}

// TestStrangers: no token is like the one before.
func TestStrangers(t *testing.T) {
	s, err := newStrangers("http://issuer", "http://gateway/mcp")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for range 100 {
		parts := strings.Split(s.token(), ".")
		if len(parts) != 3 || seen[parts[0]] {
			t.Fatalf("a token of %q", parts)
		}
		seen[parts[0]] = true
		for i, want := range []string{`"kid":"`, `"iss":"http://issuer"`, ""} {
			if text, err := base64.RawURLEncoding.DecodeString(parts[i]); err != nil || !strings.Contains(string(text), want) {
				t.Errorf("part %d is %q, %v", i, text, err)
			}
		}
	}
}
