package gateway_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"drawbridge/gateway/admin"
	"drawbridge/test/gatewaytest"
)

// TestDrift: what calls have shown is told at the admin listener without the secrets of the configuration and without invisible characters,
// whatever names a document has. A reload that changes nothing keeps it; the overlay that is derived from it makes the call pass, and counts
// begin anew with it.
func TestDrift(t *testing.T) {
	const secret = "key-of-the-service-4711"
	document := `openapi: 3.1.0
info: {title: A, version: "1"}
paths:
  /notes:
    post:
      operationId: add
      requestBody:
        content:
          application/json:
            schema:
              type: object
              properties:
                content: {type: string}
                "` + secret + `": {type: integer}
                "\u202e": {type: integer}
                deep: {type: object, properties: {"it's '] | $(x)/~": {type: integer}}}
      responses: {"200": {description: ok, content: {application/json: {schema: {type: object, required: [id], properties: {id: {type: string}}}}}}}
`
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"sk-service":"sk-service"}`)
	}))
	defer service.Close()
	config := "apis: [{spec: a.yaml, name: a, base_url: '" + service.URL + "', credential: {type: bearer, token: " + secret + "}}]\n"
	r := gatewaytest.Run(t, map[string]string{"a.yaml": document, "drawbridge.yaml": config})
	r.Served()
	call := func(arguments string) string {
		status, body := gatewaytest.Ask(t, r.Handler(), "", "tools/call", "add", `"name":"add","arguments":`+arguments)
		if status != http.StatusOK {
			t.Fatalf("%d %s", status, body)
		}
		return string(body)
	}
	drift := func() (admin.Drift, string) {
		body := gatewaytest.Do(r.Admin(), http.MethodGet, "/apis/a", nil).Body.String()
		var report admin.Report
		if err := json.Unmarshal([]byte(body), &report); err != nil {
			t.Fatal(err)
		}
		if report.API.Drift == nil {
			return admin.Drift{}, body
		}
		return *report.API.Drift, body
	}
	const deep = `"deep":{"it's '] | $(x)/~":"sk-caller"}`
	wrong := `{"content":{"cells":["sk-caller"]}}`
	if !strings.Contains(call(wrong), "expected string") {
		t.Error("the call was not refused")
	}
	call(`{"content":"c",` + deep + `,"\u202e":"sk-caller","` + secret + `":"sk-caller"}`)
	call(`{"content":"c"}`)
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	found, body := drift()
	for _, text := range []string{"sk-caller", "sk-service", secret, "\u202e"} {
		if strings.Contains(body, text) {
			t.Errorf("%q is told: %s", text, body)
		}
	}
	if found.Total != 5 || len(found.Differences) != 5 || !strings.Contains(body, `/deep/it's '] | $(x)~1~0"`) {
		t.Errorf("%+v", found)
	}
	if all := gatewaytest.Do(r.Admin(), http.MethodGet, "/apis", nil).Body.String(); !strings.Contains(all, `"total": 5`) || strings.Contains(all, `"differences"`) {
		t.Errorf("/apis: %s", all)
	}
	fix, err := r.FixDrift(t.Context(), "a", &found)
	if err != nil || fix.Data == nil {
		t.Fatalf("%+v, %v", fix, err)
	}
	r.Write(map[string]string{"drift.yaml": string(fix.Data), "drawbridge.yaml": strings.Replace(config, "name: a,", "name: a, overlays: [drift.yaml],", 1)})
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if answer := call(strings.TrimSuffix(wrong, "}") + "," + deep + "}"); strings.Contains(answer, "expected") {
		t.Errorf("with the overlay: %s", answer)
	}
	if found, _ := drift(); found.Total != 0 {
		t.Errorf("with the overlay: %+v", found)
	}
}
