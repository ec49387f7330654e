package openapi

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestArgumentName(t *testing.T) {
	long := strings.Repeat("x", 70)
	for in, want := range map[string]string{
		"id": "id", "X-Request-ID": "X-Request-ID", "a.b_c-d": "a.b_c-d", "_from": "_from",
		"page[size]": "page_size", "$top": "top", "@type": "type", "ids[]": "ids", "a  b": "a_b", "größe": "grosse", "código": "codigo", "año[min]": "ano_min",
		"": "arg_e3b0c442", "名前": "ming_qian_7ec26292", "订单号": "ding_dan_hao_977f0f7e", "주문": "jumun_d64a64f0", "😀": "arg_f0443a34",
		long:        strings.Repeat("x", 55) + "_c71bd109",
		long + "[]": strings.Repeat("x", 55) + "_d5e6d75d",
	} {
		if got := argumentName(in); got != want {
			t.Errorf("argumentName(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestNameArguments(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"path id, query id", "id_path id_query"},
		{"path id, query id, body id", "id_path id_query id_body"},
		{"query filter[x], query filter_x", "filter_x_6e06b479 filter_x"},
		{"query id, header id_query, path id", "id_query_bb8af01d id_query id_path"},
		{"query a, query b", "a b"},
		{"query código, body nombre", "codigo nombre"},
		{"query código, path código", "codigo_query codigo_path"},
		{"query código, query codigo", "codigo_f1fdbf70 codigo"},
		{"query código, body codigo", "codigo_f1fdbf70 codigo"},
		{"query año, query anó", "ano_f5b8fbdc ano_525f2a4a"},
		{"query 订单, query 定单", "ding_dan_3d5436ea ding_dan_5a36a088"},
	} {
		var all []named
		for _, pair := range strings.Split(tt.in, ", ") {
			location, name, _ := strings.Cut(pair, " ")
			all = append(all, named{wire: name, location: location})
		}
		nameArguments(all)
		var got []string
		for _, n := range all {
			got = append(got, n.name)
		}
		if diff := cmp.Diff(tt.want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s: %s", tt.in, diff)
		}
	}
}

// TestNamesAreLegalUniqueAndStable checks that for any parameters, every argument has a legal unique name, which does
// not depend on the order of the document.
func TestNamesAreLegalUniqueAndStable(t *testing.T) {
	legal := regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)
	r := rand.New(rand.NewPCG(1, 2))
	parts := []string{"id", "a", "[", "]", "_", "$", "_path", "_query", "é", "e", "订单", strings.Repeat("y", 60)}
	locations := []string{"path", "query", "header", "cookie", "body"}
	for range 3000 {
		seen := make(map[string]bool)
		var all []named
		for range 1 + r.IntN(8) {
			var b strings.Builder
			for range 1 + r.IntN(3) {
				b.WriteString(parts[r.IntN(len(parts))])
			}
			n := named{wire: b.String(), location: locations[r.IntN(len(locations))]}
			if key := n.location + " " + n.wire; !seen[key] {
				seen[key] = true
				all = append(all, n)
			}
		}
		shuffled := slices.Clone(all)
		r.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		nameArguments(all)
		nameArguments(shuffled)
		names := make(map[string]string)
		for _, n := range all {
			if !legal.MatchString(n.name) {
				t.Fatalf("%q is not legal, for %+v", n.name, n)
			}
			if other, ok := names[n.name]; ok {
				t.Fatalf("%q stands for %s and %+v", n.name, other, n)
			}
			names[n.name] = fmt.Sprintf("%+v", n)
			if !slices.Contains(shuffled, n) {
				t.Fatalf("the order changed a name: %+v is not in %+v", n, shuffled)
			}
		}
	}
}
