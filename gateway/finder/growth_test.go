package finder

import (
	"testing"
	"time"

	"drawbridge/test/growth"
)

// TestGrowth checks that the time for a hostile query, or for the texts of a hostile document, is proportional to their
// length.
func TestGrowth(t *testing.T) {
	tools, _ := shop(t)
	x := New(tools, nil)
	for name, parse := range map[string]func(string){
		"query": func(s string) { x.Search(Query{Text: s, Limit: 5}) },
		"tool":  func(s string) { New([]Tool{{Name: s, Summary: s, Description: s, Path: s, Tags: []string{s}}}, nil) },
	} {
		t.Run(name, func(t *testing.T) {
			for _, before := range []string{""} {
				growth.Hostile(t, 60_000, 2*time.Second, before, "", parse)
			}
		})
	}
}
