package prompt

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestCompletionsAreBounded holds how much is kept, and how long.
func TestCompletionsAreBounded(t *testing.T) {
	var c CompletionCache
	now := time.Unix(1_800_000_000, 0)
	c.put("a", []string{"x"}, now)
	if got, ok := c.get("a", now.Add(CompletionLifetime-1)); !ok || !slices.Equal(got, []string{"x"}) {
		t.Errorf("kept %v %v", got, ok)
	}
	if _, ok := c.get("a", now.Add(CompletionLifetime)); ok {
		t.Error("kept for too long")
	}
	c.put(strings.Repeat("k", 4*maxKeptArgument+1), nil, now)
	if len(c.kept) != 1 {
		t.Error("kept a long key")
	}
	later := now.Add(CompletionLifetime)
	large := slices.Repeat([]string{strings.Repeat("v", maxCompletion)}, maxCompletions)
	c.put("large", large, now)
	c.put("b", nil, later)
	if _, ok := c.kept["large"]; ok {
		t.Error("kept what is not good any more")
	}
	for i := range 100 {
		c.put(fmt.Sprint("large", i), large, later)
	}
	size := 0
	for key, kept := range c.kept {
		size += len(key)
		for _, value := range kept.values {
			size += len(value)
		}
	}
	if _, ok := c.get("large99", later); !ok || size > 4<<20 || size < 2<<20 {
		t.Errorf("%d bytes kept, the last: %v", size, ok)
	}
	later = later.Add(CompletionLifetime)
	for i := range 3 * maxKeptAnswers {
		c.put(fmt.Sprint(i), nil, later)
	}
	if _, ok := c.get(fmt.Sprint(3*maxKeptAnswers-1), later); len(c.kept) != maxKeptAnswers || !ok {
		t.Errorf("%d kept, the last: %v", len(c.kept), ok)
	}
}
