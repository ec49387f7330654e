package auth

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestViews is Z6: a view says of each tool what Allows says, and is equal for
// callers who may see the same.
func TestViews(t *testing.T) {
	h := newHouse(t, func(o *Options) { o.Implies = map[string][]string{"admin": {"write"}, "write": {"read"}} })
	all := []string{"read", "write", "admin", "mcp:tools", "other"}
	random := rand.New(rand.NewPCG(1, 2))
	pick := func() []string {
		var list []string
		for _, s := range all {
			if random.IntN(3) == 0 {
				list = append(list, s)
			}
		}
		return list
	}
	sets := [][]string{nil, {"read"}, {"read"}, {}}
	for range 60 {
		sets = append(sets, pick())
	}
	views := h.guard.Views(sets)
	seen := map[View]string{}
	for range 100 {
		p := &Principal{Scopes: pick()}
		v := views.Of(p)
		var bits strings.Builder
		for n, set := range sets {
			if v.Has(n) != h.guard.Allows(p, set) {
				t.Fatalf("%q sees %q: %t", p.Scopes, set, v.Has(n))
			}
			fmt.Fprint(&bits, v.Has(n))
		}
		if same, ok := seen[v]; ok && same != bits.String() {
			t.Error("two views are equal and show different tools")
		}
		seen[v] = bits.String()
		if v != views.Of(&Principal{Scopes: append([]string{"irrelevant"}, p.Scopes...)}) {
			t.Error("a scope that no tool needs makes another view")
		}
	}
	for _, v := range []View{views.Of(nil), {}} {
		for n := range sets {
			if v.Has(n) {
				t.Errorf("nobody sees tool %d", n)
			}
		}
	}
	if v := views.Of(&Principal{Scopes: all}); !v.Has(0) || v.Has(-1) || v.Has(len(sets)) {
		t.Error("indexes out of range")
	}
}

// BenchmarkView is what hiding costs a list of ten thousand tools with twenty
// different scope sets.
func BenchmarkView(b *testing.B) {
	h := newHouse(b, nil)
	sets := make([][]string, 10_000)
	for n := range sets {
		sets[n] = []string{fmt.Sprintf("api%d:read", n%20)}
	}
	views := h.guard.Views(sets)
	p := &Principal{Scopes: []string{"api1:read", "api2:read", "mcp:tools"}}
	b.ReportAllocs()
	for b.Loop() {
		if v := views.Of(p); !v.Has(1) || v.Has(0) {
			b.Fatal("wrong view")
		}
	}
}
