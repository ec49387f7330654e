package source

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

// recorder is a transport that keeps the last request.
type recorder struct{ last *http.Request }

func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	r.last = req
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: http.NoBody, Request: req}, nil
}

// TestNothingGoesElsewhere checks that everything that is configured for an API goes only to its origin, and the
// credential of another origin only to that one, for any spelling of the request's URL (E4).
func TestNothingGoesElsewhere(t *testing.T) {
	for what, keys := range map[string]string{
		"bearer":  `credential: {type: bearer, token: "${T:-of-the-api-itself}"}`,
		"basic":   `credential: {type: basic, username: gateway, password: "${T:-of-the-api-itself}"}`,
		"key":     `credential: {type: api_key, in: query, name: key, value: "${T:-of-the-api-itself}"}`,
		"cookie":  `credential: {type: api_key, in: cookie, name: key, value: "${T:-of-the-api-itself}"}`,
		"sigv4":   `credential: {type: aws_sigv4, access_key_id: id, secret_access_key: "${T:-of-the-api-itself}", region: eu-west-1, service: lambda}`,
		"headers": `pass_headers: [X-Request-ID, {from: X-Theirs, to: X-Token}]`,
		"values":  `request: {headers: {X-Secret: {secret: "${T:-of-the-api-itself}"}}, query: {tenant: acme}}`,
	} {
		t.Run(what, func(t *testing.T) {
			set, err := dir{t, t.TempDir()}.set(newDeps(t, nil), `apis:
  - spec: a.yaml
    base_url: https://orders.example/v1
    allow_servers: [https://upload.example, https://files.example]
    server_credentials: {https://upload.example: {type: bearer, token: "${U:-of-the-other-origin}"}}
    `+keys+"\n", nil)
			if err != nil {
				t.Fatal(err)
			}
			out := &recorder{}
			chain := set.Sources[0].clients.auth.calls(out)
			inbound := &Inbound{Header: http.Header{"X-Theirs": {"of-the-caller"}, "X-Request-Id": {"7"}}}
			sent := func(at string) string {
				req, err := http.NewRequestWithContext(inbound.Context(t.Context()), http.MethodGet, at, http.NoBody)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := chain.RoundTrip(req); err != nil {
					t.Fatal(err)
				}
				var all []string
				for name, values := range out.last.Header {
					all = append(all, name+": "+strings.Join(values, ", "))
				}
				slices.Sort(all)
				return strings.Join(append(all, out.last.URL.RawQuery), "\n")
			}
			if got := strings.TrimSpace(sent("https://ORDERS.example:443/upload")); got == "" {
				t.Error("the API gets nothing")
			}
			for _, at := range []string{"https://files.example/v1", "http://orders.example/v1", "https://orders.example:8443/v1", "https://orders.example./v1", "https://upload.example.evil.example/"} {
				if got := strings.TrimSpace(sent(at)); got != "" {
					t.Errorf("%s gets %s", at, got)
				}
			}
			if got := strings.TrimSpace(sent("https://upload.example/v2")); got != "Authorization: Bearer of-the-other-origin" {
				t.Errorf("the other origin gets %s", got)
			}
		})
	}
}
