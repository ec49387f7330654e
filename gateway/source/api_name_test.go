package source

import (
	"slices"
	"strings"
	"testing"

	"drawbridge/config"
)

// TestNames covers pains row 118.
func TestNames(t *testing.T) {
	for title, want := range map[string]string{
		"Orders API": "orders-api", "  ": "api", "Ünïted": "united", "订单服务": "ding-dan-fu-wu", "用户API v2": "yong-hu-api-v2", "注文サービス": "zhu-wen-sabisu", "주문 관리": "jumun-gwanri", "🙂": "api", "A very long title of some service": "a-very-long-title-of",
		"GitHub's official OpenAPI": "github-official-openapi", "GitHub’s": "github", "'s": "api", "Crow's-nest": "crow-nest", "Bob'sled": "bob-sled", "Rock 's roll": "rock-roll",
		"Supercalifragilisticexpialidocious API": "supercalifragilisticexpi", "twenty-four characters xx": "twenty-four-characters", "exactly twentyfour chars": "exactly-twentyfour-chars",
	} {
		if got := apiName(title); got != want {
			t.Errorf("apiName(%q) = %q, want %q", title, got, want)
		}
	}
	set := &Set{}
	for _, spec := range []string{"a.yaml", "b.yaml", "https://orders.internal/x.json"} {
		s := &Source{Config: config.API{Spec: config.Location(spec)}, owner: &budgetOwner{label: nameFromLocation(spec)}, Document: &Document{Title: "Same"}}
		set.Sources = append(set.Sources, s)
	}
	set.Sources[2].Document = nil
	clashes := set.NameSources()
	var names []string
	for _, s := range set.Sources {
		names = append(names, s.Name)
	}
	if want := []string{"same-a42a65b8", "same-0f9a30d3", "orders-internal"}; !slices.Equal(names, want) {
		t.Errorf("names = %v, want %v", names, want)
	}
	if len(clashes) != 1 || !strings.HasPrefix(clashes[0], `a.yaml and b.yaml would all be named "same", `) {
		t.Errorf("clashes = %q", clashes)
	}
}
