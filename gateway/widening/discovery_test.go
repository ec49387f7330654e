package widening

import (
	"strings"
	"testing"
)

// TestServices: the registry of a provider and the settings that its APIs share.
func TestServices(t *testing.T) {
	const head = "apis: [{spec: a.yaml, name: a}]\ndiscovery:\n  - "
	for _, tt := range []struct{ name, from, to, want string }{
		{"another registry", `{name: x, http: {url: "https://r.example.com"}}`, `{name: x, http: {url: "https://s.example.com"}}`, "discovery.x: services are taken from another registry"},
		{"a registry of another kind at the same URL", `{name: x, http: {url: "https://r.example.com"}}`, `{name: x, eureka: {url: "https://r.example.com"}}`, "discovery.x: services are taken from another registry"},
		{"a token of the registry", `{name: x, http: {url: "https://r.example.com", token: a}}`, `{name: x, http: {url: "https://r.example.com", token: b}}`, ""},
		{"another provider", `{name: x, http: {url: "https://r.example.com"}}`, `{name: y, eureka: {url: "https://r.example.com"}}`, "it comes in the place of another"},
		{"more concurrent calls", `{name: x, http: {url: "https://r.example.com"}}`, `{name: x, http: {url: "https://r.example.com"}, api: {max_in_flight: 65}}`, "max_in_flight lets more calls run at once"},
		{"concurrent calls as all APIs have", `{name: x, http: {url: "https://r.example.com"}, api: {max_in_flight: 5}}`, `{name: x, http: {url: "https://r.example.com"}}`, "max_in_flight lets more calls run at once"},
		{"fewer concurrent calls", `{name: x, http: {url: "https://r.example.com"}}`, `{name: x, http: {url: "https://r.example.com"}, api: {max_in_flight: 5}}`, ""},
		{"new services are served", `{name: x, approve: hold, http: {url: "https://r.example.com"}}`, `{name: x, approve: auto, http: {url: "https://r.example.com"}}`, "discovery.x: new services are served without being accepted"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := Of(load(t, head+tt.from+"\n"), nil)
			got := strings.Join(Wider(before, Of(load(t, head+tt.to+"\n"), before), nil), "\n")
			if tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
				t.Errorf("opens %q, want %q", got, tt.want)
			}
		})
	}
}
