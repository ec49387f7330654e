package mcp

import (
	"strings"
	"testing"
	"time"

	"drawbridge/test/growth"
)

// TestGrowth: the work on a hostile message or header grows with its length.
func TestGrowth(t *testing.T) {
	for name, parse := range map[string]func(string){
		"message": func(s string) { _, _ = parseMessage([]byte(s), 64); PeekMethod([]byte(s), 64) },
		"batch":   func(s string) { _, _ = parseBatch([]byte(s)) },
		"Accept": func(s string) {
			acceptsAny([]string{s}, "text/event-stream")
			acceptsAny(strings.SplitAfter(s, ","), "a")
		},
		"header": func(s string) { decodeHeaderValue(s); decodeHeaderValue("=?base64?" + s + "?=") },
	} {
		t.Run(name, func(t *testing.T) {
			for _, before := range []string{"", "{\"jsonrpc\":\"2.0\",\"id\":1,\"params\":{\"a\":"} {
				growth.Hostile(t, 60_000, time.Second, before, "", parse)
			}
		})
	}
}
