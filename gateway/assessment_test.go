package gateway_test

import (
	"testing"

	"drawbridge/openapi/readiness"
	"drawbridge/test/gatewaytest"
)

// TestReadinessKept holds that a score is kept for its API and for the generation in use alone.
func TestReadinessKept(t *testing.T) {
	r := gatewaytest.Run(t, map[string]string{
		"drawbridge.yaml": "apis:\n- {spec: one.yaml, name: one}\n- {spec: two.yaml, name: two}\n",
		"one.yaml":        gatewaytest.Document("One", "a"),
		"two.yaml":        gatewaytest.Document("Two", "b", "c"),
	})
	r.Served()
	r.Eventually("both are served", func() bool { return len(r.Tools()) == 3 })
	score := func(api string) *readiness.Report {
		report, err := r.Readiness(t.Context(), api)
		if err != nil {
			t.Fatal(err)
		}
		return report
	}
	first := score("one")
	if again := score("one"); again != first {
		t.Error("the score is computed again for each page")
	}
	if other := score("two"); other.Tools != 2 {
		t.Errorf("the score of the other API has %d tools", other.Tools)
	}
	r.Write(map[string]string{"two.yaml": gatewaytest.Document("Two", "b", "c", "d")})
	r.Eventually("the new document is served", func() bool { return len(r.Tools()) == 4 })
	if changed := score("two"); changed.Tools != 3 {
		t.Errorf("the score of the new document has %d tools", changed.Tools)
	}
}
