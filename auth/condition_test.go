package auth

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"drawbridge/test/timebox"
)

func conditionPrincipal(claims string) *Principal {
	return &Principal{
		Issuer: "https://idp.example.com", Subject: "alice", ClientID: "app", Scopes: []string{"mcp:tools", "orders:read"},
		claims: newClaimSet([]byte(claims)),
	}
}

// TestConditions is Z7: what a condition may say, and that nothing but true allows.
func TestConditions(t *testing.T) {
	const claims = `{"iss":"https://idp.example.com","groups":["sales","de"],"level":3,"ratio":2.5,"mfa":true,"tenant":{"id":"t1"},"none":null,"big":9223372036854775808}`
	const args = `{"id":"42","amount":100,"price":9.5,"whole":5.0,"huge":1e300,"tags":["a","b"],"to":{"country":"DE"},"note":null,"list":[1,2,3]}`
	tool := ConditionTool{Name: "orders_create", API: "orders", Method: "POST", Path: "/orders/{id}"}
	for _, c := range []struct {
		expr string
		want string // "allow", "deny", or the error
	}{
		{`true`, "allow"},
		{`false`, "deny"},
		{`"sales" in claims.groups`, "allow"},
		{`"admin" in claims.groups`, "deny"},
		{`claims.level >= 3 && claims.level < 3.5`, "allow"},
		{`claims.ratio == 2.5 && claims.mfa && claims.tenant.id == "t1" && claims.none == null`, "allow"},
		{`claims.big > 1.0`, "allow"},
		{`principal.issuer == "https://idp.example.com" && principal.subject == "alice" && principal.client_id == "app"`, "allow"},
		{`"orders:read" in principal.scopes && principal.scopes.exists(s, s.startsWith("mcp:"))`, "allow"},
		{`tool.name == "orders_create" && tool.api == "orders" && tool.method != "DELETE" && tool.path.startsWith("/orders/")`, "allow"},
		{`args.amount <= 100 && args.price < 10 && args.whole == 5 && args.huge > 1.0 && args.id == "42"`, "allow"},
		{`args.to.country == claims.groups[1].upperAscii()`, `condition: 1:47: undeclared reference to 'upperAscii'`},
		{`args.tags.all(t, t in ["a", "b"]) && args.list.map(x, x * 2) == [2, 4, 6] && size(args.tags) == 2`, "allow"},
		{`!has(claims.department) && has(args.to.country) && !("x" in args)`, "allow"},
		{`args.id.matches("^[0-9]+$")`, "allow"},
		{`args.note == null`, "allow"},
		{`dyn(true)`, "allow"},

		// What is missing denies, and says so.
		{`claims.department == "sales"`, "condition: it needs a value that is not there"},
		{`claims.department != "sales"`, "condition: it needs a value that is not there"},
		{`args.missing < 3`, "condition: it needs a value that is not there"},
		{`args.to.city == "Bonn"`, "condition: it needs a value that is not there"},
		{`claims.level == 3 || claims.department == "sales"`, "allow"}, // it is true whatever the other is
		{`args.id > 3`, "condition: a value is of another type than it needs"},
		{`claims.groups[7] == "x"`, "condition: it can't be evaluated"},
		{`args.amount / 0 == 1`, "condition: it can't be evaluated"},
		{`args.amount`, "condition: the result is no bool"},
		{`dyn("true")`, "condition: the result is no bool"},
		{`claims.none`, "condition: the result is no bool"},

		// What can't be one, with line and column.
		{`1 + 1`, "condition: 1:1: it is of type int, not bool"},
		{`"x"`, "condition: 1:1: it is of type string, not bool"},
		{`tool.nam == "x"`, `condition: 1:5: undeclared reference to 'tool.nam' (did you mean 'tool.name'?)`},
		{`user == "x"`, `condition: 1:1: undeclared reference to 'user'`},
		{"claims.a == 1 &&\n  tool.name == 1", `condition: 2:13: found no matching overload for '_==_' applied to '(string, int)'`},
		{`args.id.matches(args.pattern)`, "condition: 1:21: the pattern of matches must be a text that stands here"},
		{"true &&\n matches(args.id, claims.pattern)", "condition: 2:25: the pattern of matches must be a text that stands here"},
		{`["a", args.id].exists(p, "a".matches(p))`, "condition: 1:38: the pattern of matches must be a text that stands here"},
		{"foo == 1 ||\n bar == 2", "condition: 1:1: undeclared reference to 'foo'\ncondition: 2:2: undeclared reference to 'bar'"},
		{`claims.a ==`, `condition: 1:12: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}`},
		{``, `condition: 1:1: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}`},
		{strings.Repeat(" ", maxCondition) + "true", "condition has more than 4096 bytes"},
	} {
		t.Run(c.expr[:min(len(c.expr), 40)], func(t *testing.T) {
			if diff := cmp.Diff(c.want, decide(t.Context(), c.expr, conditionPrincipal(claims), tool, args)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// decide compiles and evaluates.
func decide(ctx context.Context, expr string, p *Principal, tool ConditionTool, args string) string {
	c, err := NewCondition(expr)
	if err != nil {
		return err.Error()
	}
	ok, err := c.Allows(ctx, p, tool, json.RawMessage(args))
	switch {
	case err != nil && ok:
		return "allowed with an error"
	case err != nil:
		return err.Error()
	case ok:
		return "allow"
	}
	return "deny"
}

// TestConditionLimits: work is bounded, whatever the arguments are (Z7).
func TestConditionLimits(t *testing.T) {
	numbers := `{"list":[` + strings.Repeat("1,", 3000) + `1]}`
	for _, c := range []struct {
		name, expr, args, want string
	}{
		{"loops in loops", `args.list.all(x, args.list.all(y, args.list.all(z, x + y + z < 4)))`, numbers, "condition: it costs too much"},
		{"long text", `args.s.matches("(a+)+b")`, `{"s":"` + strings.Repeat("a", 900_000) + `"}`, "condition: it costs too much"},
		{"long text in a list", `"x" in args.list || args.list.exists(s, s == "x")`, `{"list":["` + strings.Repeat("a", 900_000) + `"]}`, "deny"},
		{"long text beside it", `has(args.s) && args.path == "x"`, `{"path":"x","s":"` + strings.Repeat("a", 900_000) + `"}`, "allow"},
		{"text as long as may be", `args.s.matches("^(a+)+$")`, `{"s":"` + strings.Repeat("a", maxConditionText-2) + `"}`, "allow"},
		{"long text, put together", `(` + strings.Repeat("args.s + ", 40) + `"x").contains("b")`, `{"s":"` + strings.Repeat("a", maxConditionText-2) + `"}`, "deny"}, // as much as a tree of bounded depth can do
		{"many arguments", `args.list.size() > 1`, `{"list":[` + strings.Repeat("1,", maxConditionNodes) + `1]}`, "condition: the arguments are too many"},
		{"member twice", `args.a == 1`, `{"a":1,"a":2}`, "condition: the arguments are no JSON with unique members"},
		{"no JSON", `args.a == 1`, `{"a"`, "condition: the arguments are no JSON with unique members"},
		{"not looked at", `tool.name == "x"`, `{"a"`, "allow"},
		{"no arguments", `!has(args.a) && size(args) == 0`, "", "allow"},
		{"a number too large", `args.n > 0`, `{"n":1e999}`, "condition: it needs a number that is too large"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got string
			took := timebox.Fastest(2*time.Second, func() {
				got = decide(t.Context(), c.expr, conditionPrincipal("{}"), ConditionTool{Name: "x"}, c.args)
			})
			late := got == "condition: it takes too long" && len(c.args) > 1000 // on a busy machine
			if got != c.want && !late {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if took > 2*time.Second {
				t.Errorf("took %s", took)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := decide(ctx, `args.list.all(x, x > 0)`, conditionPrincipal("{}"), ConditionTool{}, numbers); !strings.HasPrefix(got, "condition: ") {
		t.Errorf("for a caller who has left: %q", got)
	}
	if got := decide(t.Context(), `true`, nil, ConditionTool{}, ""); got != "deny" {
		t.Errorf("for nobody: %q", got)
	}
	if got := decide(t.Context(), `claims.a == 1`, &Principal{}, ConditionTool{}, ""); got != "condition: it needs a value that is not there" {
		t.Errorf("without claims: %q", got)
	}
	_, err := NewCondition(strings.Repeat("(", 500) + "true" + strings.Repeat(")", 500))
	if fmt.Sprint(err) != "condition: 1:1: expression recursion limit exceeded: 64" {
		t.Errorf("nested too deeply: %v", err)
	}
}

// TestConditionClaims: the claims are those of the token, of either kind, and
// are kept only where that is asked for. One condition serves many callers.
func TestConditionClaims(t *testing.T) {
	condition, err := NewCondition(`claims.department == "sales"`)
	if err != nil {
		t.Fatal(err)
	}
	for _, keep := range []bool{true, false} {
		h := opaqueHouse(t, func(o *Options) { o.KeepClaims = keep })
		h.a.answers["sales"] = h.activeAnswer(h.now, map[string]string{"department": `"sales"`})
		h.a.answers["stock"] = h.activeAnswer(h.now, map[string]string{"department": `"stock"`})
		var wg sync.WaitGroup
		for token, want := range map[string]bool{
			"sales": keep, "stock": false,
			h.keyB.token(h.b.url, h.now, map[string]any{"department": "sales"}): keep,
			h.keyB.token(h.b.url, h.now, nil):                                   false,
		} {
			p, err := h.guard.authenticate(t.Context(), credential{token: token})
			if err != nil {
				t.Fatal(err)
			}
			for range 4 {
				wg.Go(func() {
					if got, _ := condition.Allows(context.Background(), p, ConditionTool{}, nil); got != want {
						t.Errorf("kept %t, %s: %t", keep, token[:5], got)
					}
				})
			}
		}
		timebox.Done(t, wg.Wait)
	}
}

// FuzzCondition looks for expressions and arguments that crash, and for errors
// that allow.
func FuzzCondition(f *testing.F) {
	f.Add(`args.a == claims.b`, `{"a":1}`)
	f.Add(`args.list.map(x, [x, args.list])`, `{"list":[1,2.5,"x",null,{}]}`)
	f.Add(`tool.name.matches(args.re)`, `{"re":"(((("}`)
	f.Add(`size(args) in [1u, 2, 3.0] ? duration(args.d) > duration("1s") : false`, `{"d":"x"}`)
	p := conditionPrincipal(`{"b":1}`)
	f.Fuzz(func(t *testing.T, expr, args string) {
		if got := decide(t.Context(), expr, p, ConditionTool{Name: "x"}, args); got == "allowed with an error" {
			t.Fatal(got)
		}
	})
}

// BenchmarkCondition is what a condition adds to a call.
func BenchmarkCondition(b *testing.B) {
	p := conditionPrincipal(`{"groups":["sales","de"],"level":3}`)
	for name, c := range map[string]struct{ expr, args string }{
		"claims": {`"sales" in claims.groups && tool.method != "DELETE"`, `{}`},
		"args":   {`args.amount <= 100 && args.to.country == "DE"`, `{"amount":100,"to":{"country":"DE","city":"Bonn"},"tags":["a","b"]}`},
	} {
		b.Run(name, func(b *testing.B) {
			condition, err := NewCondition(c.expr)
			if err != nil {
				b.Fatal(err)
			}
			args := json.RawMessage(c.args)
			b.ReportAllocs()
			for b.Loop() {
				if ok, err := condition.Allows(b.Context(), p, ConditionTool{Method: "POST"}, args); !ok {
					b.Fatal(fmt.Sprint(err))
				}
			}
		})
	}
}

// TestConditionHeldValues: a string that is too long to work on and a number that is too large are what they are in every
// comparison, also where nobody would see an error: within lists and maps, and behind a "not" (Z7).
func TestConditionHeldValues(t *testing.T) {
	long := strings.Repeat("a", maxConditionText)
	const longer, large = "condition: it needs a value that is too long", "condition: it needs a number that is too large"
	args := `{"s":"` + long + `","t":"` + long + `b","same":"` + long + `","list":["` + long + `"],"o":{"a":"` + long + `"},"n":1e999,"m":-1e999,"x":[1e999]}`
	for expr, want := range map[string]string{
		`args.list == ["x"]`:                             "deny",
		`args.list != ["x"]`:                             "allow",
		`args.list.map(s, s) == ["x"]`:                   "deny",
		`[args.s] == ["x"]`:                              "deny",
		`args.o == {"a": "x"}`:                           "deny",
		`args.o in [{"a": "x"}]`:                         "deny",
		`{"k": args.s} == {"k": "x"}`:                    "deny",
		`"x" in args.list`:                               "deny",
		`args.list.exists(s, s == "x")`:                  "deny",
		`args.s == "x"`:                                  "deny",
		`args.s == args.same && args.s != args.t`:        "allow",
		`args.list == [args.same]`:                       "allow",
		`args.list == [args.t]`:                          "deny",
		`size(args.s) == 16384 && has(args.s)`:           "allow",
		`type(args.s) != string || args.list == []`:      longer,
		`args.s.startsWith("b") || args.list == []`:      "condition: a value is of another type than it needs",
		`args.s < "b"`:                                   longer,
		`"a" < args.s`:                                   "condition: a value is of another type than it needs",
		`!args.list.all(s, s.contains("x"))`:             "condition: a value is of another type than it needs",
		`args.s + "x" != "x"`:                            longer,
		`"x" + args.s != "x"`:                            "condition: a value is of another type than it needs",
		`args[args.s] == 1`:                              "condition: it can't be evaluated",
		`string(args.s) != ""`:                           "allow",
		`!(args.n > 1000)`:                               large,
		`!(1000 < args.n)`:                               "condition: a value is of another type than it needs",
		`!(args.m < 0.5)`:                                large,
		`args.n == args.n || args.n == 5 || 5 == args.n`: "deny",
		`args.x == [5] || 5 in args.x`:                   "deny",
		`args.n != 5`:                                    "allow",
		`-args.n < 0`:                                    large,
		`args.n - args.n == 0.0`:                         large,
		`int(args.n) < 5`:                                large,
	} {
		if got := decide(t.Context(), expr, conditionPrincipal("{}"), ConditionTool{}, args); got != want {
			t.Errorf("%s: %s, want %s", expr, got, want)
		}
	}
}
