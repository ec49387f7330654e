package call_test

import (
	"fmt"
	"strings"
	"testing"

	"drawbridge/gateway"
	"drawbridge/test/gatewaytest"
)

// TestAnswerHeaderProblems holds that names which can't be passed on are refused at the start, all at once and with their key (pains row 125).
func TestAnswerHeaderProblems(t *testing.T) {
	many := make([]string, 33)
	for i := range many {
		many[i] = fmt.Sprintf("X-%d", i)
	}
	for _, tt := range []struct {
		names string
		want  []string
	}{
		{"X-Total-Count, ETag", nil},
		{"X Total, 'X:'", []string{`"X Total" is not the name of a header`, `"X:" is not the name of a header`}},
		{"Set-Cookie, server, X-Page-Access-Token", []string{"Set-Cookie is never passed on", "server is never passed on", "X-Page-Access-Token is never passed on"}},
		{"X-A, x-a", []string{"x-a is there twice"}},
		{strings.Join(many[1:], ","), nil},
		{strings.Join(many, ","), []string{"33 headers are named, 32 may be"}},
	} {
		text := fmt.Sprintf("apis: [{name: shop, spec: $SPEC, base_url: $BASE, answer_headers: [%s]}]\n", tt.names)
		_, err := gateway.New(gateway.Options{Config: gatewaytest.Configure(t, t.TempDir(), gatewaytest.Document("Shop", "list"), text, "http://127.0.0.1:1")})
		for _, want := range tt.want {
			if err == nil || !strings.Contains(err.Error(), "apis[0].answer_headers: "+want) {
				t.Errorf("%s: %v\nwant %s", tt.names, err, want)
			}
		}
		if tt.want == nil && err != nil {
			t.Errorf("%s: %v", tt.names, err)
		}
	}
}
