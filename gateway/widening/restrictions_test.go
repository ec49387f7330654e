package widening

import (
	"fmt"
	"strings"
	"testing"

	"drawbridge/config"
)

// TestRestrictionsWithoutOperations: a restriction that goes, or becomes weaker, counts also where the document has no operation under it now. One that is
// replaced by an equal or stricter one does not.
func TestRestrictionsWithoutOperations(t *testing.T) {
	const (
		head       = "server: {public_url: \"https://mcp.example.com\"}\nauth: {issuers: [{issuer: \"https://idp.example.com\"}], default_scopes: [read]}\napis: [{spec: a.yaml, name: a%s}]\n"
		excludes   = ", tools: {exclude: %s}"
		includes   = ", tools: {include: %s}"
		confirming = "rules:\n  - {match: %s, set: {confirm: true}}\n"
		two        = confirming + "  - {match: %s, set: {confirm: true}}\n"
	)
	exclude := func(s string) string { return fmt.Sprintf(head, fmt.Sprintf(excludes, s)) }
	include := func(s string) string { return fmt.Sprintf(head, fmt.Sprintf(includes, s)) }
	confirm := func(s string) string { return fmt.Sprintf(head, "") + fmt.Sprintf(confirming, s) }
	both := func(a, b string) string { return fmt.Sprintf(head, "") + fmt.Sprintf(two, a, b) }
	rules := func(lines ...string) string {
		return fmt.Sprintf(head, "") + "rules:\n  - " + strings.Join(lines, "\n  - ") + "\n"
	}
	bare := fmt.Sprintf(head, "")
	operations := []config.Subject{
		{Method: "GET", Path: "/orders", Operation: "list", Tags: []string{"public"}},
		{Method: "POST", Path: "/orders", Operation: "order"},
	}
	const through, asked = "tools.include and tools.exclude let calls through", "no consent is needed"
	for _, tt := range []struct {
		name, from, to string
		want           string // part of a line; "": it is not wider
	}{
		{"an exclusion goes", exclude("{path: /admin/**}"), bare, through + " of operations that match {path: \"/admin/**\"}"},
		{"an exclusion is narrower", exclude("{path: /admin/**}"), exclude("{path: /admin/users/**}"), through},
		{"an exclusion is of fewer segments", exclude("{path: /admin/**}"), exclude("[{path: /admin}, {path: /admin/*}, {path: /admin/*/*}]"), through},
		{"an exclusion is of a method more", exclude("{path: /admin/**, method: POST}"), exclude("{path: /admin/**, method: [POST, PUT]}"), ""},
		{"an exclusion is of one method", exclude("{path: /admin/**}"), exclude("{path: /admin/**, method: POST}"), through},
		{"an exclusion is of any method", exclude("{path: /admin/**, method: POST}"), exclude("{path: /admin/**}"), ""},
		{"one of two patterns goes", exclude("{path: [/orders, /admin/**]}"), exclude("{path: /orders}"), through},
		{"an exclusion is split", exclude("{path: [/internal/**, /admin/**]}"), exclude("[{path: /admin/**}, {path: /internal/**}]"), ""},
		{"an exclusion is wider", exclude("{path: /admin/**}"), exclude("{path: '/adm*/**'}"), ""},
		{"an exclusion becomes a demand for a tag", exclude("{path: /admin/**}"), include("{tag: public}"), through},
		{"a tag that is included is another", include("{tag: public}"), include("{tag: beta}"), through},
		{"a tag less is included", include("[{tag: public}, {tag: beta}]"), include("{tag: public}"), ""},
		{"all are included", include("{tag: public}"), bare, through},
		{"a tag is included but not its exclusion", exclude("{tag: secret}"), include("{tag: public}"), through},

		{"annotations promise more", bare, rules("{match: {path: /find}, set: {annotations: {read_only: true}}}"), "annotations promise clients more, or warn of less, before calls of operations that match {path: \"/find\"}"},
		{"annotations promise that nothing is destroyed", bare, rules("{match: {path: /find}, set: {annotations: {destructive: false}}}"), "annotations promise"},
		{"annotations promise a closed world", bare, rules("{match: {path: /find}, set: {annotations: {open_world: false}}}"), "annotations promise"},
		{"annotations promise less", rules("{match: {path: /find}, set: {annotations: {read_only: true}}}"), bare, ""},
		{"annotations warn", bare, rules("{match: {path: /find}, set: {annotations: {read_only: false}}}"), ""},
		{"annotations don't warn any more", rules("{match: {path: /find, method: GET}, set: {annotations: {read_only: false}}}"), bare, "annotations promise"},
		{"annotations of an operation that is there", bare, rules("{match: {method: POST, path: /orders}, set: {annotations: {idempotent: true}}}"), ""},
		{"a rule goes", confirm("{path: /admin/**}"), bare, asked + " for calls of operations that match {path: \"/admin/**\"}"},
		{"a rule becomes an exclusion", confirm("{path: /admin/**}"), exclude("{path: /admin/**}"), ""},
		{"a rule is merged", both("{path: /admin/**}", "{path: /pay}"), confirm("{path: [/pay, /admin/**]}"), ""},
		{"rules change places", both("{path: /admin/**}", "{path: /pay}"), both("{path: /pay}", "{path: /admin/**}"), ""},
		{"a rule of an operation that is there, in other words", confirm("{operation: list}"), confirm("{path: /orders}"), ""},
		{"a rule of an operation that is not there, in other words", confirm("{operation: purge}"), confirm("{path: /orders}"), asked},
		{"a rule of a path where others may come, in other words", confirm("{path: /orders}"), confirm("{operation: [list, order]}"), asked},
		{"a later rule takes back under it", confirm("{path: /admin/**}"), rules("{match: {path: /admin/**}, set: {confirm: true}}", "{match: {path: '/**/users'}, set: {confirm: false}}"),
			asked + " for calls of operations that match {path: \"/**/users\"}"},
		{"an earlier rule takes back in vain", confirm("{path: /admin/**}"), rules("{match: {path: '/**/users'}, set: {confirm: false}}", "{match: {path: /admin/**}, set: {confirm: true}}"), ""},
		{"a rule takes back elsewhere", confirm("{path: /admin/**}"), rules("{match: {path: /admin/**}, set: {confirm: true}}", "{match: {path: '/users/*'}, set: {confirm: false}}"), ""},
		{"a rule takes back for an operation that is elsewhere", confirm("{path: /admin/**}"), rules("{match: {path: /admin/**}, set: {confirm: true}}", "{match: {operation: order}, set: {confirm: false}}"), ""},
		{"rules that disagree change places", rules("{match: {path: /a/**}, set: {scopes: [a]}}", "{match: {path: '/**/b'}, set: {scopes: [b]}}"),
			rules("{match: {path: '/**/b'}, set: {scopes: [b]}}", "{match: {path: /a/**}, set: {scopes: [a]}}"), "fewer or other scopes suffice"},
		{"rules that disagree of nothing in common change places", rules("{match: {path: /a/**}, set: {scopes: [a]}}", "{match: {path: '/b/**'}, set: {scopes: [b]}}"),
			rules("{match: {path: '/b/**'}, set: {scopes: [b]}}", "{match: {path: /a/**}, set: {scopes: [a]}}"), ""},
		{"a scope more", rules("{match: {path: /a/**}, set: {scopes: [a]}}"), rules("{match: {path: /a/**}, set: {scopes: [a, b]}}"), ""},
		{"another scope", rules("{match: {path: /a/**}, set: {scopes: [a]}}"), rules("{match: {path: /a/**}, set: {scopes: [b]}}"), "fewer or other scopes suffice"},
		{"a field less is hidden", rules("{match: {tag: x}, set: {sensitive_fields: [ssn, iban]}}"), rules("{match: {tag: x}, set: {sensitive_fields: [ssn]}}"), "sensitive_fields hides fewer fields in answers of operations that match {tag: \"x\"}"},
		{"answers are shared that were not kept", rules("{match: {tag: x}, set: {cache: {shared: true}}}", "{match: {tag: x}, set: {cache: false}}"), rules("{match: {tag: x}, set: {cache: {shared: true}}}"), "cache.shared"},
		{"a fixed argument goes", rules("{match: {tag: x}, set: {arguments: {t: {value: acme}}}}"), bare, NotFixed + " of operations that match {tag: \"x\"}"},
		{"a fixed argument is given back", rules("{match: {tag: x}, set: {arguments: {t: {value: acme}}}}"), rules("{match: {tag: x}, set: {arguments: {t: {value: acme}}}}", "{match: {path: /a/**}, set: {arguments: {t: {hidden: false}}}}"), NotFixed},
		{"another value is fixed", rules("{match: {tag: x}, set: {arguments: {t: {value: acme}}}}"), rules("{match: {tag: x}, set: {arguments: {t: {value: other}}}}"), NotFixed},
		{"a claim takes the place of a value", rules("{match: {tag: x}, set: {arguments: {t: {value: acme}}}}"), rules("{match: {tag: x}, set: {arguments: {t: {claim: tenant}}}}"), NotFixed},
		{"a secret is rotated", rules("{match: {tag: x}, set: {arguments: {t: {secret: a-secret}}}}"), rules("{match: {tag: x}, set: {arguments: {t: {secret: b-secret}}}}"), ""},
		{"a fixed argument is described, and another one fixed", rules("{match: {tag: x}, set: {arguments: {t: {value: acme}}}}"), rules("{match: {tag: x}, set: {arguments: {t: {value: acme}}}}", "{match: {path: /a/**}, set: {arguments: {t: {description: x}, u: {hidden: true}}}}"), ""},
		{"an exclusion by extension goes", exclude("{extension: x-internal}"), exclude("{extension: x-beta}"), through + " of operations that match {extension: \"x-internal\"}"},
		{"an exclusion of what is deprecated goes", exclude("[{deprecated: true}, {tag: x}]"), exclude("{tag: x}"), through + " of operations that match {deprecated: true}"},
		{"an exclusion is of all that is deprecated", exclude("{deprecated: true, tag: x}"), exclude("{deprecated: true}"), ""},
		{"a job names another operation", rules("{match: {tag: x}, set: {job: true}}"), rules("{match: {tag: x}, set: {job: {result: {operation: secret}}}}"), "job does more than before"},
		{"a job is not told of any more", rules("{match: {tag: x}, set: {job: {result: {operation: secret}}}}"), rules("{match: {tag: x}, set: {job: true}}"), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := Of(load(t, tt.from), nil)
			document := func(int) *Document { return &Document{Was: "a", Is: "a", Operations: operations} }
			got := Wider(before, Of(load(t, tt.to), before), document)
			if tt.want == "" && len(got) > 0 || tt.want != "" && !strings.Contains(strings.Join(got, "\n"), tt.want) {
				t.Errorf("opens %q, want %q", got, tt.want)
			}
		})
	}
}

// TestManyRules: what is too much to compare counts as wider, and does not take long.
func TestManyRules(t *testing.T) {
	text := func(kind string) string {
		var b strings.Builder
		b.WriteString("apis: [{spec: a.yaml, name: a}]\nrules:\n")
		for i := range 300 {
			fmt.Fprintf(&b, "  - {match: {path: '/%s%d/**', tag: x%d}, set: {confirm: true}}\n", kind, i, i)
		}
		return b.String()
	}
	before := Of(load(t, text("a")), nil)
	if got := Wider(before, Of(load(t, text("a")), before), nil); len(got) > 0 {
		t.Errorf("the same rules open %q", got)
	}
	if got := Wider(before, Of(load(t, text("b")), before), nil); len(got) == 0 {
		t.Error("other rules open nothing")
	}
}
