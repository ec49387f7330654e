package reload_test

import (
	"fmt"
	"testing"

	"drawbridge/config"
	"drawbridge/test/gatewaytest"
)

// TestLikeness: what is configured alike has the same name, however it is written; whatever is configured otherwise has another.
func TestLikeness(t *testing.T) {
	dir := t.TempDir()
	of := func(api, limits string) string {
		c := gatewaytest.Configure(t, dir, gatewaytest.Document("Shop", "list"), fmt.Sprintf("apis: [{name: shop, spec: $SPEC, %s}]\nlimits: {%s}\n", api, limits), "")
		return config.Fingerprint(c.APIs[0], c.Limits, []byte("certificates"))
	}
	const (
		base   = "base_url: https://shop.test"
		bearer = base + `, credential: {type: bearer, token: "first"}`
		chosen = base + `, credentials: {a: {type: bearer, token: "one"}, b: {type: bearer, token: "two"}, c: {type: bearer, token: "three"}, d: {type: bearer, token: "four"}}`
	)
	seen := map[string]string{}
	for _, c := range []struct{ api, limits string }{
		{base, ""}, {"base_url: https://shop.test/v2", ""}, {"base_url: http://shop.test", ""},
		{bearer, ""}, {base + `, credential: {type: bearer, token: "second"}`, ""},
		{base + `, credential: {type: basic, username: first, password: second}`, ""}, {base + `, credential: {type: basic, username: firsts, password: econd}`, ""},
		{chosen, ""}, {base + `, credentials: {a: {type: bearer, token: "two"}, b: {type: bearer, token: "one"}, c: {type: bearer, token: "three"}, d: {type: bearer, token: "four"}}`, ""},
		{base + ", pass_headers: [X-A, X-Bc]", ""}, {base + ", pass_headers: [X-Ab, X-C]", ""}, {base + ", pass_headers: [X-Bc, X-A]", ""},
		{base + ", clean: true", ""}, {base + ", tools: {include: [{method: GET}]}", ""}, {base + ", tools: {exclude: [{method: GET}]}", ""},
		{base + ", rate: {rate: 1/s}", ""}, {base + ", breaker: off", ""}, {base + ", timeout: 3s", ""}, {base, "timeout: 3s"}, {base, "max_answer: 1MiB"},
		{base + ", server_variables: {a: b}", ""}, {base + ", server_variables: {b: a}", ""},
	} {
		name := c.api + "; " + c.limits
		got := of(c.api, c.limits)
		if other := seen[got]; other != "" {
			t.Errorf("%s\nis taken to be\n%s", name, other)
		}
		seen[got] = name
		for range 4 { // maps are gone through in another order each time
			if again := of(c.api, c.limits); again != got {
				t.Errorf("%s is not like itself", name)
			}
		}
	}
	c := gatewaytest.Configure(t, dir, gatewaytest.Document("Shop", "list"), "", "https://shop.test")
	if config.Fingerprint(c.APIs[0], c.Limits, []byte("certificates")) == config.Fingerprint(c.APIs[0], c.Limits, []byte("others")) {
		t.Error("the content of ca_file does not count")
	}
	if of(base, "") != of(`base_url: "https://shop.test", clean: false`, "timeout: 30s") {
		t.Error("a default that is written down makes a difference")
	}
}
