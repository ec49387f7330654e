package deliver

import (
	"fmt"
	"strings"
	"testing"

	"drawbridge/gateway/projection"
	"drawbridge/gateway/tokenizer"
	"drawbridge/openapi/answer"
)

// longAnswers are answers of some 256 KiB: text of which a character has about a token, as text and in JSON, and records.
func longAnswers() map[string]answer.Part {
	const size = 256 << 10
	var han strings.Builder
	for i := 0; han.Len() < size; i++ {
		han.WriteRune(rune(0x4e00 + i*i*31%0x5000))
	}
	var records strings.Builder
	for i := 0; records.Len() < size; i++ {
		fmt.Fprintf(&records, `{"id":%d,"name":"Chair %d","material":"oak","price":%d.50,"tags":["new","wood"]},`, i, i*7, i%90)
	}
	rows := strings.TrimSuffix(records.String(), ",")
	half := rows[:strings.LastIndex(rows[:len(rows)/2], ",{")]
	var texts strings.Builder
	for i := 0; i+300 < han.Len(); i += 300 {
		fmt.Fprintf(&texts, `{"id":%d,"text":"%s"},`, i, han.String()[i:i+300])
	}
	return map[string]answer.Part{
		"han":         {Kind: answer.Text, Data: []byte(han.String())},
		"han-member":  {Kind: answer.JSON, Data: []byte(`{"id":1,"text":"` + han.String() + `","next":"p2"}`)},
		"han-records": {Kind: answer.JSON, Data: []byte(`{"items":[` + strings.TrimSuffix(texts.String(), ",") + `],"total":1}`)},
		"records":     {Kind: answer.JSON, Data: []byte(`{"items":[` + rows + `],"total":9}`)},
		"records-two": {Kind: answer.JSON, Data: []byte(`{"a":[` + half + `],"b":[` + half + `]}`)},
	}
}

const benchedLimit = 25_000

// TestFitterCounts holds that the tokens that a fitter adds up are at least those of what it returns.
func TestFitterCounts(t *testing.T) {
	for name, part := range longAnswers() {
		f := newFitter(beside{}, []answer.Part{part}, benchedLimit)
		if f.measure() <= benchedLimit {
			t.Fatalf("%s: is within the ceiling", name)
		}
		shown, note, tokens := f.fit(true, noWays)
		n := tokenizer.Count(shown[0].Data) + tokenizer.Count([]byte(note))
		if n > benchedLimit || n < benchedLimit*9/10 {
			t.Errorf("%s: %d tokens of %d are shown", name, n, benchedLimit)
		}
		if tokens < n || tokens > benchedLimit {
			t.Errorf("%s: %d tokens are said to be shown, %d are", name, tokens, n)
		}
	}
}

// BenchmarkTruncate cuts answers to the ceiling.
func BenchmarkTruncate(b *testing.B) {
	tokenizer.Load()
	for name, part := range longAnswers() {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				fitToLimit(part)
			}
		})
	}
}

func fitToLimit(part answer.Part) {
	f := newFitter(beside{}, []answer.Part{part}, benchedLimit)
	if f.measure() > benchedLimit {
		f.fit(true, noWays)
	}
}

// noWays is for results of which nothing leads to the rest.
func noWays([]projection.Cut) []string { return nil }
