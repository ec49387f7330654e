package widening

import (
	"slices"
	"testing"
)

// TestConsole changes who may do what in the console.
func TestConsole(t *testing.T) {
	const apis = "apis: [{spec: a.yaml, base_url: \"https://a.example.com\"}]\nadmin: "
	oidc := func(more string) string {
		return `{console: {oidc: {issuer: "https://idp.example.com", client_id: c, ` + more + `}}}`
	}
	for _, c := range []struct {
		name, from, to string
		want           []string
	}{
		{"off", "{console: {enabled: false}}", "{console: {enabled: false, tokens: [{name: a, token: 0123456789abcdef}]}}", nil},
		{"a token", "{}", "{console: {tokens: [{name: a, token: 0123456789abcdef}]}}", []string{"admin.console: who has the token of a can look at what is served"}},
		{"a token that is off", "{console: {tokens: [{name: a, token: 0123456789abcdef}]}}", "{}", nil},
		{
			"turned on", "{token: 0123456789abcdef, console: {enabled: false}}", "{token: 0123456789abcdef}",
			[]string{"admin.console: who has admin.token can change what is served, and call tools"},
		},
		{
			"another role", "{console: {tokens: [{name: a, token: 0123456789abcdef}]}}", "{console: {tokens: [{name: a, token: 0123456789abcdef, role: operate}]}}",
			[]string{"admin.console: who has the token of a can change what is served, and call tools"},
		},
		{"a lesser role", "{console: {tokens: [{name: a, token: 0123456789abcdef, role: operate}]}}", "{console: {tokens: [{name: a, token: 0123456789abcdef}]}}", nil},
		{"a group", oidc("roles: {operate: [x]}"), oidc("roles: {operate: [x], view: [y]}"), []string{"admin.console: who has groups y can look at what is served"}},
		{
			"another claim", oidc("roles: {operate: [x]}"), oidc("roles_claim: sub, roles: {operate: [x]}"),
			[]string{"admin.console: who has sub x can change what is served, and call tools", "admin.console.oidc: another provider says who signs in to the console"},
		},
		{"bodies", "{}", "{console: {show_bodies: true}}", []string{"admin.console.show_bodies: operators see arguments and answers of calls"}},
	} {
		got := Wider(Of(load(t, apis+c.from+"\n"), nil), Of(load(t, apis+c.to+"\n"), nil), func(int) *Document { return nil })
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
