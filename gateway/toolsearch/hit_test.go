package toolsearch

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"drawbridge/gateway/catalog"
	"drawbridge/gateway/finder"
)

// TestHitsShareTheRoom: many hits with deep arguments are an answer of bounded length, in which the first show the most, and all name their
// required arguments with types.
func TestHitsShareTheRoom(t *testing.T) {
	var document strings.Builder
	document.WriteString("openapi: 3.1.0\ninfo: {title: Runs, version: '1'}\ncomponents:\n  schemas:\n    Filter:\n      type: object\n      properties:\n")
	for i := range 12 {
		fmt.Fprintf(&document, "        member_%d: {anyOf: [{type: object, properties: {any_: {type: array, items: {type: string}}, like_: {type: string}}}, {type: 'null'}]}\n", i)
	}
	document.WriteString("paths:\n")
	for i := range 20 {
		fmt.Fprintf(&document, "  /runs/%c/filter:\n    post:\n      operationId: filterRuns%c\n      summary: Filter runs\n      requestBody: {content: {application/json: {schema: {type: object, required: [zone], properties: {"+
			"a: {$ref: '#/components/schemas/Filter'}, b: {$ref: '#/components/schemas/Filter'}, zone: {type: string}}}}}}\n      responses: {'200': {description: OK}}\n", 'a'+i, 'A'+i)
	}
	c := compile(t, []txtar.File{{Name: "runs.yaml", Data: []byte(document.String())}})
	index := finder.OfTools(c.All(), nil)
	s := &Scope{Tools: c.All(), Index: func() *finder.Index { return index }, Allowed: func(*catalog.Tool) bool { return true }}
	for _, limit := range []int{1, 2, 8, 20} {
		answer, found, err := s.Search(t.Context(), fmt.Appendf(nil, `{"query":"filter runs","limit":%d}`, limit))
		if err != nil || found != limit {
			t.Fatalf("%d of %d hits, error %v", found, limit, err)
		}
		if most := max(limit*hitLength, maxHitLength) * 11 / 10; len(answer) > most {
			t.Errorf("%d hits have %d bytes, more than %d", limit, len(answer), most)
		}
		hits := strings.Split(answer, "\nfilter")
		if first, last := len(hits[0]), len(hits[limit-1]); limit > 1 && first <= last {
			t.Errorf("of %d hits, the first has %d bytes and the last %d", limit, first, last)
		}
		for _, hit := range hits {
			if !strings.Contains(hit, "zone: string") {
				t.Errorf("a hit without its required argument: %s", hit)
			}
		}
	}
}
