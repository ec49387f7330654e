package jsonscan

import (
	"testing"
	"time"

	"drawbridge/test/growth"
)

// TestGrowth checks that the time for a hostile text is proportional to its length, in every function.
func TestGrowth(t *testing.T) {
	for name, parse := range map[string]func([]byte){
		"scan":      func(b []byte) { _, _ = Scan(b, Options{Unique: true}) },
		"canonical": func(b []byte) { scanned(b, func() { AppendCanonical(nil, b) }) },
		"compact":   func(b []byte) { scanned(b, func() { AppendCompact(nil, b) }) },
		"escape":    func(b []byte) { AppendString(nil, b) },
		"pointer":   func(b []byte) { scanned(b, func() { PointerAt(b, len(b)-1) }) },
		"strings":   func(b []byte) { scanned(b, func() { ReplaceStrings(b, func(s []byte) []byte { return s }) }) },
		"filter": func(b []byte) {
			scanned(b, func() {
				f := &Filter{}
				f.Name("a", 0)
				f.Apply(b)
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, around := range [][2]string{{"", ""}, {`["`, `"]`}} {
				growth.Hostile(t, 60_000, 500*time.Millisecond, around[0], around[1], func(text string) { parse([]byte(text)) })
			}
		})
	}
}

// scanned calls f for a text that is JSON, as the program does.
func scanned(b []byte, f func()) {
	if _, err := Scan(b, Options{}); err == nil {
		f()
	}
}
