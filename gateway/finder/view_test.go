package finder

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// randomTools returns tools with words of a small vocabulary, so that they share many.
func randomTools(r *rand.Rand, n int) []Tool {
	vocabulary := make([]string, 60)
	for i := range vocabulary {
		vocabulary[i] = fmt.Sprintf("%c%co%c%c", 'b'+i%20, 'a'+i%4, 'c'+i/3%17, 'd'+i/7%13)
	}
	some := func(n int) (text string) {
		for range 1 + r.IntN(n) {
			text += vocabulary[int(float64(len(vocabulary))*r.Float64()*r.Float64())] + " "
		}
		return text
	}
	tools := make([]Tool, n)
	for i := range tools {
		tools[i] = Tool{
			Name: fmt.Sprintf("tool_%d", i), API: some(1), Method: []string{"GET", "POST", "DELETE"}[r.IntN(3)], Path: "/" + some(1), Summary: some(5), Description: some(30),
			Tags: []string{some(1)}, Parameters: []string{some(2), some(2)}, Explained: []string{some(9)},
		}
	}
	return tools
}

// TestViewRanking checks that tools that a caller may not see change neither the hits, nor their order, nor their
// scores.
func TestViewRanking(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for round := range 40 {
		tools := randomTools(r, 40)
		var visible []Tool
		shown := make([]bool, len(tools))
		for i := range tools {
			if shown[i] = r.IntN(3) > 0; shown[i] {
				visible = append(visible, tools[i])
			}
		}
		with, without := New(tools, nil), New(visible, nil)
		view := with.View(func(tool int) bool { return shown[tool] })
		for range 20 {
			query := Query{Text: randomTools(r, 1)[0].Summary, Limit: 10}
			var want []string
			for _, hit := range without.Search(query).Hits {
				want = append(want, fmt.Sprintf("%s %.9f", visible[hit.Tool].Name, hit.Score))
			}
			query.View, query.Allowed = view, func(tool int) bool { return shown[tool] }
			var got []string
			for _, hit := range with.Search(query).Hits {
				got = append(got, fmt.Sprintf("%s %.9f", tools[hit.Tool].Name, hit.Score))
			}
			if !slices.Equal(got, want) {
				t.Fatalf("round %d, %q:\n%v, without the hidden tools\n%v", round, query.Text, got, want)
			}
		}
	}
}

// TestViewOfAll checks that a caller who sees all tools gets the same ranking as without a view.
func TestViewOfAll(t *testing.T) {
	if New(randomTools(rand.New(rand.NewPCG(3, 4)), 5), nil).View(func(int) bool { return true }) != nil {
		t.Error("there is a view of all tools")
	}
}

// BenchmarkView measures a search of 10,000 tools by a caller who sees all, and by one who sees most of them.
func BenchmarkView(b *testing.B) {
	tools := randomTools(rand.New(rand.NewPCG(5, 6)), 10_000)
	x := New(tools, nil)
	for name, view := range map[string]*View{"all": nil, "most": x.View(func(i int) bool { return i%10 > 0 })} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				x.Search(Query{Text: tools[7].Summary, Limit: 8, View: view, Allowed: func(i int) bool { return view == nil || i%10 > 0 }})
			}
		})
	}
}
