package projection

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"drawbridge/openapi/jsonscan"
	"drawbridge/test/race"
	"drawbridge/test/timebox"
)

// FuzzProgram: no expression panics, runs on, or gives what is no JSON.
func FuzzProgram(f *testing.F) {
	for _, text := range []string{
		`.`, `[.items[] | {id, price}]`, `del(.items[].id)`, `.items |= map({id})`, `"\(.items[0].id)x"`, `[.. | numbers]`, `.items | group_by(.id) | map(length)`,
		`.items as [{id: $a}] | $a`, `if .a then .b else .c end`, `[.[]?]`, `@csv "x\(.items)"`, `walk(.)`, `pick(.a.b)`, `[.,.] | [.,.] | tojson`, `with_entries(.value |= tostring)`,
	} {
		f.Add(text, []byte(`{"items":[{"id":1,"price":1.10},{"id":9007199254740993,"price":1e400}],"a":null}`))
	}
	f.Fuzz(func(t *testing.T, text string, answer []byte) {
		p, err := NewCompiler().Compile(text)
		if err != nil {
			return
		}
		p.Check(nil)
		data, ok := Compact(answer)
		if !ok {
			return
		}
		begin := time.Now()
		got, err := p.Run(t.Context(), data)
		if took := time.Since(begin); took > 20*time.Second {
			t.Errorf("%s takes %s", text, took)
		}
		if err == nil && !json.Valid(got) {
			t.Errorf("%s gives %s", text, got)
		}
		if err != nil && strings.ContainsAny(err.Error(), "\r\n") {
			t.Errorf("%q", err)
		}
	})
}

// TestProgramBombs: expressions that double a value with each step, or go through all combinations, end with the deadline or
// with the budget, and take no memory to speak of.
func TestProgramBombs(t *testing.T) {
	again := func(first, next string, n int) string { return first + strings.Repeat(" | "+next, n) }
	cross := ""
	for _, name := range strings.Split("abcdefghijklmnopqrstuvwx", "") {
		cross += ".items[] as $" + name + " | "
	}
	for name, text := range map[string]string{
		"json":       again("[.,.]", "[.,.]", 60) + " | tojson",
		"encoded":    again("[.,.]", "[.,.]", 60),
		"compared":   again("[.,.]", "[.,.]", 60) + " | . == .",
		"ordered":    again("[.,.]", "[.,.]", 60) + " | sort",
		"in del":     again("[.,.]", "[.,.]", 60) + " | del(.[] | select(. == [1]))",
		"in modify":  again("[.,.]", "[.,.]", 60) + " | .[] |= tojson",
		"flat":       again("[.,.]", "[.,.]", 60) + " | flatten",
		"members":    again("{a:.,b:.}", "{a:.,b:.}", 60) + " | tostring",
		"text":       again(`"\(.items)"`, `"\(.)\(.)"`, 60),
		"sum":        again(`"\(.items)"`, `. + "" + .`, 60),
		"formatted":  again(`@json`, `@json`, 90),
		"encoded 64": again(`@base64`, `@base64`, 90),
		"joined":     again(`[.items[] | tojson]`, `[join(tojson), join(tojson)]`, 60),
		"substitute": again(`.items | tojson`, `gsub("";"xxxxxxxxxxxxxxxx")`, 60),
		"walked":     again("[.,.]", "[.,.]", 60) + " | walk(.)",
		"recursed":   again("[.,.]", "[.,.]", 60) + " | [..]",
		"sums":       again("[.,.]", ". + [] + .", 60),
		"merged":     again("{a:.}", "{b:.} * {c:.}", 60) + " | tojson",
		"combined":   "[" + cross + "1]",
		"matched":    `[.items[] | tojson | test("(a*)*(b*)*(c*)*(d*)*(e*)*$")]`,
	} {
		t.Run(name, func(t *testing.T) {
			p, err := NewCompiler().Compile(text)
			if err != nil {
				t.Fatal(err)
			}
			data := []byte(`{"items":[` + strings.Repeat(`{"id":1,"name":"some text"},`, 200) + `{"id":2}]}`)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			most := time.Second
			if race.Enabled { // the work is what is bounded, and the detector makes each unit ten times as slow
				most = time.Minute
			}
			var got []byte
			runs := uint64(0)
			took := timebox.Fastest(most, func() { got, err = p.Run(t.Context(), data); runs++ })
			runtime.ReadMemStats(&after)
			if err == nil && len(got) > 3*len(data)+1<<13 {
				t.Errorf("%d bytes of %d", len(got), len(data))
			}
			if err != nil && !errors.Is(err, errTooMuch) && !errors.Is(err, errLong) {
				t.Error(err)
			}
			if took > most {
				t.Errorf("takes %s", took)
			}
			if n := (after.TotalAlloc - before.TotalAlloc) / runs >> 20; n > 256 {
				t.Errorf("takes %d MiB", n)
			}
		})
	}
}

// TestProgramEnvironment: no expression reads the environment or anything else of the process.
func TestProgramEnvironment(t *testing.T) {
	t.Setenv("PROJECTION_SECRET", "s3cret")
	for _, text := range []string{"env", "$ENV", "env.PROJECTION_SECRET", "[$ENV[]]", "input", "$__prog_args", "now", "halt_error", `import "os" as o; .`, `"\(env)"`, "try env catch .", "{a: $ENV.PATH}"} {
		if _, err := NewCompiler().Compile(text); err == nil {
			t.Errorf("%s is accepted", text)
		}
	}
}

// TestProgramCancelled: the end of a call ends the evaluation.
func TestProgramCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p, err := NewCompiler().Compile(".")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Run(ctx, []byte(`{}`)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestProgramConcurrent: calls share a program.
func TestProgramConcurrent(t *testing.T) {
	p, err := NewCompiler().Compile(`[.items[] | select(.name | test("^s")) | {id, n: "\(.id)"}]`)
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for range 50 {
				got, err := p.Run(t.Context(), []byte(`{"items":[{"id":1.10,"name":"some"}]}`))
				if string(got) != `[{"id":1.10,"n":"1.10"}]` {
					t.Error(string(got), err)
				}
			}
		})
	}
	timebox.Done(t, wait.Wait)
}

// TestProgramCheck: the shape of a result, and the names that the answer does not have.
func TestProgramCheck(t *testing.T) {
	text, number, null := jsonscan.Of(jsonscan.String), jsonscan.Of(jsonscan.Number), jsonscan.Of(jsonscan.Null)
	item := &jsonscan.Shape{Kinds: jsonscan.Of(jsonscan.Object, jsonscan.Null), Properties: []jsonscan.Property{
		{Name: "id", Shape: &jsonscan.Shape{Kinds: number | null, Integer: true}}, {Name: "name", Shape: &jsonscan.Shape{Kinds: text | null}},
	}}
	answer := &jsonscan.Shape{Kinds: jsonscan.Of(jsonscan.Object), Properties: []jsonscan.Property{
		{Name: "total", Shape: &jsonscan.Shape{Kinds: number | null}}, {Name: "items", Shape: &jsonscan.Shape{Kinds: jsonscan.Of(jsonscan.Array, jsonscan.Null), Items: item}},
		{Name: "free"},
	}}
	for _, c := range []struct{ text, shape, missing string }{
		{".", "{total:number or null,items:[{id:number or null,name:string or null}],free:?}", ""},
		{"[.items[] | {id, n: .name}]", "[{id:number or null,n:string or null}]", ""},
		{"{total, items: [.items[] | {id}]}", "{total:number or null,items:[{id:number or null}]}", ""},
		{".items |= map({id})", "{total:number or null,items:[{id:number or null}],free:?}", ""},
		{"del(.items[].name, .free)", "{total:number or null,items:[{id:number or null}]}", ""},
		{"pick(.total, .items)", "{total:number or null,items:[{id:number or null,name:string or null}]}", ""},
		{".items | length", "number", ""},
		{".items[0].id", "number or null", ""},
		{"{a: (.total // \"x\")}", "{a:string or number or null}", ""},
		{"if .total then {a: 1} else {a: 2, b: 3} end", "{a:number}", ""},
		{".free.deep", "?", ""},
		{"[.items[] | select(.id == 1)]", "[{id:number or null,name:string or null}]", ""},
		{".items as [$a] | {x: $a.id}", "{x:number or null}", ""},
		{"{titel: .items[0].titel}", "{titel:?}", "titel"},
		{"[.items.id]", "[?]", "id"},
		{"[.total[]]", "[?]", "[]"},
		{"[.items[] | .owner.name]", "[?]", "owner"},
		{"[.items[] | with_entries(.)]", "[{}]", ""},
	} {
		p, err := NewCompiler().Compile(c.text)
		if err != nil {
			t.Error(c.text, err)
			continue
		}
		shape, missing := p.Check(answer)
		var names []string
		for _, m := range missing {
			names = append(names, m.Name)
		}
		if got := shapeText(shape); got != c.shape || strings.Join(names, ",") != c.missing {
			t.Errorf("%s: %s, missing %q; want %s, %q", c.text, got, names, c.shape, c.missing)
		}
	}
}

func shapeText(s *jsonscan.Shape) string {
	switch {
	case s == nil || s.Kinds == 0:
		return "?"
	case s.Kinds.Has(jsonscan.Object):
		var members []string
		for _, p := range s.Properties {
			members = append(members, p.Name+":"+shapeText(p.Shape))
		}
		return "{" + strings.Join(members, ",") + "}"
	case s.Kinds.Has(jsonscan.Array):
		return "[" + shapeText(s.Items) + "]"
	}
	return s.Kinds.String()
}
