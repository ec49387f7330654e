package projection

import (
	"bytes"
	"encoding/json"
	"runtime"
	"strings"
	"testing"
	"time"

	"drawbridge/gateway/tokenizer"
	"drawbridge/test/race"
	"drawbridge/test/timebox"
)

// FuzzLimits: an answer is within its limits and JSON, and what is left out is said.
func FuzzLimits(f *testing.F) {
	f.Add([]byte(`{"total":3,"items":[1,2,3,[4,5,6]],"text":"a long text that is \u00fc\ud83d\ude00 shortened"}`), 2, 50)
	f.Add([]byte(`[[[[["`+strings.Repeat("\u00e9", 300)+`"]]]]]`), 1, 50)
	f.Add([]byte(`{"a":`+strings.Repeat("1", 500)+`}`), 0, 50)
	f.Fuzz(func(t *testing.T, answer []byte, items, most int) {
		data, ok := Compact(answer)
		if !ok {
			t.Skip()
		}
		l := Limits{MaxItems: max(items, 0), MaxTokens: max(most, 0)}
		if l.MaxTokens > 0 {
			l.MaxTokens = max(l.MaxTokens, 50)
		}
		before := bytes.Clone(data)
		got, cuts := l.Apply(data)
		if !bytes.Equal(before, data) {
			t.Fatal("the answer was changed")
		}
		if !json.Valid(got) {
			t.Fatalf("not JSON: %s", got)
		}
		if (len(cuts) > 0) == bytes.Equal(got, data) {
			t.Errorf("%v of %s: %s", cuts, data, got)
		}
		if l.MaxTokens > 0 && tokenizer.Count(got) > l.MaxTokens {
			t.Errorf("%d tokens, more than %d: %s", tokenizer.Count(got), l.MaxTokens, got)
		}
		if l.MaxItems > 0 {
			checkItems(t, tree(got), l.MaxItems)
		}
		if note := (&Answer{Cuts: cuts}).Note(); strings.ContainsAny(note, "\r\n") || (note == "") != (len(cuts) == 0) {
			t.Errorf("%q", note)
		}
	})
}

func checkItems(t *testing.T, v any, most int) {
	t.Helper()
	switch v := v.(type) {
	case []any:
		if len(v) > most {
			t.Errorf("%d elements, more than %d", len(v), most)
		}
		for _, element := range v {
			checkItems(t, element, most)
		}
	case map[string]any:
		for _, member := range v {
			checkItems(t, member, most)
		}
	}
}

// TestLimitsCostLittle: answers that are nested as deep as they may be are cut in a time that grows with their length.
func TestLimitsCostLittle(t *testing.T) {
	for name, data := range map[string]string{
		"deep":    strings.Repeat(`{"a":[`, 99) + strings.Repeat(`1,`, 2<<20) + "1" + strings.Repeat(`]}`, 99),
		"wide":    `{"x":0` + strings.Repeat(`,"name":{"a":[1,2]}`, 200_000) + `}`,
		"text":    `["` + strings.Repeat(`\u00fc`, 700_000) + `"]`,
		"objects": `[` + strings.Repeat(`{"a":{"b":{"c":[1,2,3]}}},`, 150_000) + `1]`,
	} {
		const most = 2 * time.Second
		var got []byte
		var cuts []Cut
		if took := timebox.Fastest(most, func() { got, cuts = Limits{MaxItems: 1000, MaxTokens: 100}.Apply([]byte(data)) }); took > most {
			t.Errorf("%s: %d bytes take %s", name, len(data), took)
		}
		if tokenizer.Count(got) > 100 || len(cuts) == 0 {
			t.Errorf("%s: %s, %v", name, got, cuts)
		}
	}
}

// TestLimitsTakeLittleMemory: an answer that is cut to little takes little memory, whatever it consists of.
func TestLimitsTakeLittleMemory(t *testing.T) {
	bound := 32 << 20
	if race.Enabled { // pools forget what they hold
		bound *= 3
	}
	tokenizer.Load()
	for name, data := range map[string]string{
		"members": `{"x":0` + strings.Repeat(`,"a":1`, 1_000_000) + `}`,
		"names":   `{"x":0` + strings.Repeat(`,"":[]`, 1_000_000) + `}`,
		"rows":    `[0` + strings.Repeat(`,{"a":1}`, 700_000) + `]`,
		"files":   `["` + strings.Repeat(strings.Repeat("iVBORw0K", 150)+`","`, 4_000) + `"]`,
		"text":    `"` + strings.Repeat("a word ", 800_000) + `"`,
	} {
		answer := []byte(data)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		got, _ := Limits{MaxTokens: 25_000}.Apply(answer)
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > uint64(bound) {
			t.Errorf("%s: %d bytes take %d MiB to be cut to %d", name, len(data), took>>20, len(got))
		}
	}
}

// TestLongNumber: a number that is the whole answer and too long is null, since it can't be cut, and the note names it.
func TestLongNumber(t *testing.T) {
	got, cuts := Limits{MaxTokens: 50}.Apply([]byte(strings.Repeat("9", 1000)))
	if note := (&Answer{Cuts: cuts}).Note(); string(got) != "null" || note != "Left out: a number that is too long." {
		t.Errorf("%s, %q", got, note)
	}
}
