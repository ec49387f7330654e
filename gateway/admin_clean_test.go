package gateway_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"drawbridge/gateway/admin"
	"drawbridge/test/gatewaytest"
)

// TestAdminShowsNothingUnseen holds that texts of documents reach operators without what turns the words around it, or what nobody sees (S8). (pains row 108)
func TestAdminShowsNothingUnseen(t *testing.T) {
	const hidden = "\\u202E\\U000E0041"
	r := gatewaytest.Run(t, map[string]string{"drawbridge.yaml": "apis: [{spec: a.yaml, name: shop}, {spec: b.yaml, name: broken}]\n",
		"a.yaml": `openapi: 3.0.3
info: {title: "Shop` + hidden + `", version: "1` + hidden + `"}
servers: [{url: https://shop.example}]
paths:
  "/a` + hidden + `": {get: {operationId: "look` + hidden + `", summary: "Look` + hidden + `", responses: {"204": {description: ok}}}}
  "/b": {get: {operationId: b, parameters: [{name: "X` + hidden + `", in: "head` + hidden + `"}], responses: {"204": {description: ok}}}}
`,
		"b.yaml": "openapi: \"3" + hidden + "\"\ninfo: {title: \"x" + hidden + "\", version: \"1\"}\npaths: {}\n"})
	r.Served()
	for _, target := range []string{"/apis", "/apis/shop", "/apis/broken", "/readyz?verbose"} {
		w := httptest.NewRecorder()
		request := httptest.NewRequest("GET", target, nil)
		request.Host = "localhost"
		r.Admin().ServeHTTP(w, request)
		body := strings.ToLower(w.Body.String())
		if w.Code != 200 || !strings.Contains(body, "shop") && !strings.Contains(body, "broken") {
			t.Errorf("%s = %d %s", target, w.Code, body)
		}
		for _, not := range []string{"\u202e", "\U000e0041", `"\u202e`, `\udb40`} {
			if strings.Contains(body, not) {
				t.Errorf("%s has %+q: %+q", target, not, body)
			}
		}
	}
	if report, _ := r.Report("shop"); report.API.State != admin.Ready || !strings.HasPrefix(report.API.Title, "Shop") {
		t.Errorf("%+v", report.API)
	}
}
