package gateway_test

import (
	"net/http"
	"strings"
	"testing"

	"drawbridge/test/gatewaytest"
)

// TestLockSurvivesProfile: an approval made under the full profile holds under the compatible one and the other way around, since
// that follows from the full one; a change of the document is noticed under both (pains row 171). A tool whose name began with a digit
// is approved under that name (pains row 172).
func TestLockSurvivesProfile(t *testing.T) {
	const document = `openapi: 3.1.0
info: {title: Pay, version: "1"}
paths:
  /pay:
    post:
      operationId: pay
      requestBody:
        content:
          application/json:
            schema:
              oneOf:
                - {type: object, required: [card], properties: {card: {type: string, enum: [a, '']}}}
                - {type: object, required: [iban], properties: {iban: {type: string}, count: {enum: [1, 2]}}}
      responses: {"204": {description: paid}}
  /2fa:
    post: {operationId: 2fa-verify, responses: {"204": {description: verified}}}
`
	r := started(t, "- a.yaml\n")
	config := func(profile, lock string) string {
		return lock + `apis: [{name: a, spec: a.yaml, base_url: "http://127.0.0.1:1", schema_profile: ` + profile + "}]\n"
	}
	serve := func(files map[string]string) string {
		t.Helper()
		r.Write(files)
		if err := r.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		return strings.Join(r.Tools(), " ")
	}
	for _, profiles := range [][2]string{{"full", "compatible"}, {"compatible", "full"}} {
		serve(map[string]string{"a.yaml": document, "drawbridge.yaml": config(profiles[0], "")})
		approved := strings.ReplaceAll(string(r.Lock().Encode()), "_2fa-verify", "2fa-verify")
		const locked = "tools: {lock: approved.lock}\n"
		if got := serve(map[string]string{"approved.lock": approved, "drawbridge.yaml": config(profiles[1], locked)}); got != "_2fa-verify pay" {
			t.Errorf("approved under %s, served under %s: %q\n%s", profiles[0], profiles[1], got, gatewaytest.Do(r.Admin(), http.MethodGet, "/apis/a?fate=held", nil).Body)
		}
		if got := serve(map[string]string{"a.yaml": strings.Replace(document, "[1, 2]", "[1, 3]", 1)}); got != "_2fa-verify" {
			t.Errorf("changed under %s: %q", profiles[1], got)
		}
		serve(map[string]string{"drawbridge.yaml": config(profiles[0], "")})
	}
}
