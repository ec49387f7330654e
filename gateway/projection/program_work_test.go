package projection

import (
	"bytes"
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"drawbridge/test/timebox"
)

// largeAnswers are answers of up to 2 MiB that are hard in different ways.
func largeAnswers() map[string]string {
	digits := strings.Repeat("7", 1_900_000)
	return map[string]string{
		"digits":   `{"items":[` + digits + `,3,1,2,1],"long":` + digits[:1000] + `}`,
		"fraction": `{"items":[0.` + digits[:400_000] + `1,3,1,2,1],"long":1}`,
		"exponent": `{"items":[` + digits[:400_000] + `e5,3,1e1000000000,1E-400000000,1],"long":1e999999999}`,
		"numbers":  `{"items":[` + strings.TrimSuffix(strings.Repeat(strings.Repeat("7", 10_000)+",", 20), ",") + `],"long":1}`,
		"ones":     `{"items":[` + strings.Repeat("1,", 60_000) + `1],"long":1}`,
		"text":     `{"items":[1,2,3],"long":"` + strings.Repeat("ab", 100_000) + `"}`,
		"objects":  `{"items":[` + strings.Repeat(`{"id":1234,"name":"some text of it","tags":["a","b"]},`, 3_000) + `{"id":2,"name":"x"}],"long":"x"}`,
	}
}

// TestProgramWork: whatever an answer has, one evaluation takes a bounded time, by the work that is counted before each step.
// The bound is wide, since a garbage collector and other tests run beside it; without the count each of these takes minutes on one
// of the answers.
func TestProgramWork(t *testing.T) {
	answers := largeAnswers()
	for _, text := range []string{
		".items|sort", ".items|unique", ".items|min", ".items|max", ".items|sort_by(.)", ".items|group_by(.)", ".items|unique_by(.)", ".items|min_by(.)",
		".items==.items", "[.items[]|.<3]", ".items as $a|[$a[]|select(IN($a[]))]", ".items|contains(.[1:])", ".items|. as $a|inside($a)", ".items|index([2])",
		".items - [3] | length", ".items as $a|[$a[]|[.] - $a]", "[.items[]|tostring]", "[.items[]|tojson]", ".items|map(tojson)|join(\", \")",
		"pick(.items[].id)", "del(.items[])", "del(.items[]|select(.==1))", ".items|=map(tostring)", ".items[]|=tostring", "[.items[]|@text]",
		". as $r|[.items[]|first($r.items[])]", ". as $r|[.items[]|$r.long|length]", ". as $r|[.items[]|$r.long==$r.items]", ". as $r|[.items[]|.==$r.long]",
		". as $r|[.items[]|[1,2,3][$r.items[0]]]", ". as $r|[.items[]|[1,2,3]|has($r.items[0])]", ". as $r|[limit($r.items[0];$r.items[])]", ". as $r|.items|flatten($r.items[0])",
		". as $r|.items|map(tostring)|join($r.long|tostring)", "[.items[]|. as $a|$a[:1]?]", "[..|numbers]", "walk(.)", "to_entries", "[.items[] as $a|.items[] as $b|empty]",
		`tojson|test("(a{1,100}){1,10}b")`, `tojson|gsub("7";"2")`, "[tojson|scan(\"7\")]", "tojson|fromjson", "[tojson,tojson]|map(fromjson)", "{(.long|tostring):1}", "[.items[]|[.]|@csv]",
	} {
		for name, answer := range answers {
			p, err := NewCompiler().Compile(text)
			if err != nil {
				t.Fatal(text, err)
			}
			timebox.Processor(t, 4*time.Second, func() {
				if got, err := p.Run(t.Context(), []byte(answer)); err == nil && len(got) > 2*len(answer)+1<<13 {
					t.Errorf("%s on %s: %d bytes", text, name, len(got))
				}
			})
			if t.Failed() {
				t.Fatalf("%s on %s", text, name)
			}
		}
	}
}

// TestProgramLongNumbers: numbers of any length keep their digits, and those that take too long to be compared end the evaluation.
func TestProgramLongNumbers(t *testing.T) {
	long := strings.Repeat("7", 1_900_000)
	data := []byte(`{"a":` + long + `,"b":[3,1,2],"c":1e1000000000,"d":1E-400000000}`)
	for text, want := range map[string]string{
		"{a}":          `{"a":` + long + `}`,
		"[.c, .d]":     `[1e1000000000,1E-400000000]`,
		".b|sort":      `[1,2,3]`,
		".a|tostring":  `"` + long + `"`,
		"[.c,.d]|sort": `[1E-400000000,1e1000000000]`,
		"[.c,1]|max":   `1e1000000000`,
		"[.a,1]|sort":  "",
		".a == .a":     "",
		".b[.a]":       "",
	} {
		p, err := NewCompiler().Compile(text)
		if err != nil {
			t.Fatal(text, err)
		}
		got, err := p.Run(t.Context(), data)
		if want == "" && !errors.Is(err, errTooMuch) || want != "" && string(got) != want {
			t.Errorf("%s: %.80s, %v", text, got, err)
		}
	}
}

// TestProgramUnderLoad: the same answers have the same results, and the same are refused, while the only processor is busy.
func TestProgramUnderLoad(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var stop atomic.Bool
	busy := make(chan struct{})
	answers := largeAnswers()
	texts := []string{"[.items[]|tostring|length]", ".items|sort|length", "[.items[]|{id: .id?}]"}
	type result struct {
		got []byte
		err error
	}
	run := func() (all []result) {
		for _, text := range texts {
			p, err := NewCompiler().Compile(text)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"digits", "numbers", "text", "objects"} {
				got, err := p.Run(t.Context(), []byte(answers[name]))
				all = append(all, result{got, err})
			}
		}
		return all
	}
	before := run()
	for range 3 {
		go func() {
			for !stop.Load() {
			}
			busy <- struct{}{}
		}()
	}
	after := run()
	stop.Store(true)
	for range 3 {
		timebox.Receive(t, busy)
	}
	for i := range before {
		if !bytes.Equal(before[i].got, after[i].got) || !errors.Is(after[i].err, before[i].err) {
			t.Errorf("%d: %.60s, %v; under load %.60s, %v", i, before[i].got, before[i].err, after[i].got, after[i].err)
		}
	}
}

// TestProgramCatchesNoEnd: an expression can catch the error of a guard, which must not make it go on with a part of the answer.
func TestProgramCatchesNoEnd(t *testing.T) {
	p, err := NewCompiler().Compile(`[.items[] | try tojson catch "none"]`)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := p.Run(t.Context(), []byte(`{"items":[`+strings.Repeat("1,", 500_000)+`1]}`)); !errors.Is(err, errTooMuch) {
		t.Errorf("%.80s, %v", got, err)
	}
}
