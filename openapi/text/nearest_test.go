package text

import (
	"slices"
	"strings"
	"testing"
)

func TestNearest(t *testing.T) {
	names := []string{"createOrder", "getOrder", "getOrders", "list_order_lines", "x", strings.Repeat("long", 20)}
	for given, want := range map[string][]string{
		"getOrder": {"getOrder", "getOrders"}, "getorder": {"getOrder", "getOrders"}, "get-order": {"getOrder"}, "getOrdre": {"getOrder"},
		"listOrderLines": {"list_order_lines"}, "order": {"createOrder", "getOrder", "getOrders"}, "getOrderById": {"getOrder"},
		"": nil, "ge": nil, "weather": nil, "y": nil, strings.Repeat("long", 21): nil,
	} {
		if got := NearestFew(given, names, 3); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", given, got, want)
		}
		one := ""
		if len(want) > 0 {
			one = want[0]
		}
		if got := Nearest(given, names); got != one && given != "order" {
			t.Errorf("%q: %q, want %q", given, got, one)
		}
	}
	if got := NearestFew("order", names, 1); len(got) != 1 {
		t.Errorf("at most one: %q", got)
	}
}

// TestDistance checks that the distance is symmetric, 0 only for equal words, and never more than the longer word.
func TestDistance(t *testing.T) {
	words := []string{"", "a", "ab", "ba", "abc", "acb", "xyz", "getOrder", "getOrdre", "Order"}
	for _, a := range words {
		for _, b := range words {
			d := distance(a, b)
			if d != distance(b, a) || (d == 0) != (a == b) || d > max(len(a), len(b)) || d < max(len(a), len(b))-min(len(a), len(b)) {
				t.Errorf("%q and %q: %d", a, b, d)
			}
		}
	}
	if d := distance("getOrder", "getOrdre"); d != 1 {
		t.Errorf("swapped letters: %d", d)
	}
}
