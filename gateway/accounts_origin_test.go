package gateway_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"drawbridge/gateway"
	"drawbridge/gateway/account"
	"drawbridge/test/gatewaytest"
	"drawbridge/test/timebox"
)

// originsConfig gives the shop a resource and prompts, and adds an API without a credential.
const originsConfig = `  - {name: open, spec: $SPEC, base_url: $OPEN}
rules: [{match: {api: shop, operation: list}, set: {resource: {uri: "shop://orders", poll: 1m, tool: true}}}]
prompts:
  - name: both
    arguments: [{name: why, required: true}]
    inputs: [{key: reason, message: Why?, arguments: [why]}]
    messages: [{text: "{{why}}"}, {tool: open_list}, {tool: shop_list}]
  - {name: read, messages: [{resource: "shop://orders"}]}
  - name: typed
    arguments: [{name: who, complete: {tool: shop_list, values: /user}}]
    messages: [{text: "{{who}}"}]
`

// withOrigins returns a gateway with [originsConfig], and the number of requests that the API without a credential has got.
func (w *accountWorld) withOrigins(state string) (g *gateway.Gateway, opened *int) {
	w.t.Helper()
	opened = new(int)
	open := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		*opened++
		rw.Header().Set("Content-Type", "application/json")
		_, _ = rw.Write([]byte("{}"))
	}))
	w.t.Cleanup(open.Close)
	return gatewaytest.Start(w.t, w.document, w.config(state)+strings.ReplaceAll(originsConfig, "$OPEN", open.URL), w.service.URL), opened
}

// TestAccountResource: a user who reads a resource is asked for the account, and the read goes on with it. Nobody reads with the account of another.
func TestAccountResource(t *testing.T) {
	const read, params = "shop://orders", `{"uri":"shop://orders"}`
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(revision, func(t *testing.T) {
			w := newAccountWorld(t, 0)
			g, _ := w.withOrigins(fmt.Sprintf(", state_dir: %q", t.TempDir()))
			for name, capabilities := range map[string]string{"no questions": `{}`, "forms alone": `{"elicitation":{"form":{}}}`} {
				answer := w.answering(g, revision, capabilities, "", false).Send("resources/read", read, params, nil)
				if text := string(answer.Error); !linkForm.MatchString(text) || len(w.calls) > 0 {
					t.Errorf("%s: %s %s", name, answer.Result, text)
				}
			}
			declined := w.answering(g, revision, formsAndLinks, `{"action":"decline"}`, false).Send("resources/read", read, params, nil)
			if text := string(declined.Error); !strings.Contains(text, "declined to connect") || len(w.calls) > 0 {
				t.Errorf("declined: %s %s", declined.Result, text)
			}
			c := w.answering(g, revision, formsAndLinks, `{"action":"accept"}`, true)
			if answer := c.Send("resources/read", read, params, nil); !strings.Contains(string(answer.Result), "alice@shop") || len(w.calls) != 1 {
				t.Errorf("%s %s\n%s", answer.Result, answer.Error, c.Log.String())
			}
			if text := gatewaytest.NewClient(t, g.Handler(), revision, w.token("bob")).Read(read).Body.String(); !linkForm.MatchString(text) || strings.Contains(text, "alice@shop") || len(w.calls) != 1 {
				t.Errorf("bob: %s", text)
			}
		})
	}
}

// TestAccountThroughBuiltIn: a call through a built-in tool asks for the account of the called tool, and goes on with it.
func TestAccountThroughBuiltIn(t *testing.T) {
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		for _, tool := range []string{"read_tool", "call_tool"} {
			t.Run(revision+" "+tool, func(t *testing.T) {
				w := newAccountWorld(t, 0)
				g := gatewaytest.Start(t, w.document, w.config(fmt.Sprintf(", state_dir: %q", t.TempDir()))+"tools: {presentation: search}\n", w.service.URL)
				for _, connects := range []bool{false, true} {
					c := w.answering(g, revision, formsAndLinks, `{"action":"accept"}`, connects)
					text := string(c.Send("tools/call", tool, fmt.Sprintf(`{"name":%q,"arguments":{"name":"list"}}`, tool), nil).Result)
					if !strings.Contains(c.Log.String(), `"mode":"url"`) || strings.Contains(text, "alice@shop") != connects || len(w.calls) > 0 != connects {
						t.Errorf("connected %t, %d requests: %s\n%s", connects, len(w.calls), text, c.Log.String())
					}
				}
			})
		}
	}
}

// TestAccountPrompt: a prompt asks nobody for an account, because its calls would be repeated afterwards, but says where to connect one. The
// answers to its own questions belong to no call.
func TestAccountPrompt(t *testing.T) {
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(revision, func(t *testing.T) {
			w := newAccountWorld(t, 0)
			g, opened := w.withOrigins(fmt.Sprintf(", state_dir: %q", t.TempDir()))
			get := func(prompt string) (gatewaytest.Message, string) {
				c := w.answering(g, revision, formsAndLinks, `{"action":"accept"}`, false)
				c.Call.Answers["reason"] = []json.RawMessage{json.RawMessage(`{"action":"accept","content":{"why":"because"}}`)}
				answer := c.Send("prompts/get", prompt, fmt.Sprintf(`{"name":%q}`, prompt), nil)
				return answer, c.Log.String()
			}
			for _, prompt := range []string{"both", "read"} {
				answer, log := get(prompt)
				if text := string(answer.Error); !linkForm.MatchString(text) || strings.Contains(log, `"mode":"url"`) || len(w.calls) > 0 {
					t.Errorf("%s: %s %s\n%s", prompt, answer.Result, text, log)
				}
			}
			if *opened != 1 {
				t.Errorf("the first call of the prompt was made %d times", *opened)
			}
			w.mustConnect(g, "alice", "shop_list")
			for _, prompt := range []string{"both", "read"} {
				if answer, log := get(prompt); !strings.Contains(string(answer.Result), "alice@shop") {
					t.Errorf("%s: %s %s\n%s", prompt, answer.Result, answer.Error, log)
				}
			}
			bob := gatewaytest.NewClient(t, g.Handler(), revision, w.token("bob")).Send("prompts/get", "both", `{"why":"x"}`).Body.String()
			if !linkForm.MatchString(bob) || strings.Contains(bob, "alice@shop") || len(w.calls) != 2 {
				t.Errorf("bob: %s", bob)
			}
		})
	}
}

// TestAccountCompletion: values that a call supplies while the user types are those of the user's own account, and nobody is asked for one.
func TestAccountCompletion(t *testing.T) {
	const params = `{"ref":{"type":"ref/prompt","name":"typed"},"argument":{"name":"who","value":""}}`
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(revision, func(t *testing.T) {
			w := newAccountWorld(t, 0)
			g, _ := w.withOrigins(fmt.Sprintf(", state_dir: %q", t.TempDir()))
			complete := func(want string) {
				t.Helper()
				c := w.answering(g, revision, formsAndLinks, `{"action":"accept"}`, false)
				answer := c.Send("completion/complete", "", params, nil)
				if !strings.Contains(string(answer.Result), `"values":`+want) || strings.Contains(c.Log.String(), "asked") {
					t.Errorf("%s %s, want %s\n%s", answer.Result, answer.Error, want, c.Log.String())
				}
			}
			complete("[]")
			w.mustConnect(g, "bob", "shop_list")
			complete("[]")
			if len(w.calls) > 0 {
				t.Errorf("the service got %d requests", len(w.calls))
			}
			w.mustConnect(g, "alice", "shop_list")
			complete(`["alice@shop"]`)
		})
	}
}

// TestAccountSubscription: a resource is polled with the account of each subscriber, and with none once that is revoked.
func TestAccountSubscription(t *testing.T) {
	w := newAccountWorld(t, 0)
	g, _ := w.withOrigins(fmt.Sprintf(", state_dir: %q", t.TempDir()))
	server := httptest.NewServer(g.Handler())
	t.Cleanup(server.Close)
	t.Cleanup(g.Subscriptions().End)
	w.mustConnect(g, "alice", "shop_list")
	l := newLooks(t, g)
	users := func() (users []string) {
		w.mu.Lock()
		defer w.mu.Unlock()
		for _, token := range w.calls {
			users = append(users, claim(token, "sub"))
		}
		return users
	}
	watch := func(user string) {
		watchOver(t, server, "/mcp", "2026-07-28", http.Header{"Authorization": {"Bearer " + w.token(user)}}, "shop://orders").want("acknowledged [shop://orders]")
		l.looked()
	}
	watch("alice")
	watch("bob")
	if got := users(); len(got) != 1 || got[0] != "alice@shop" {
		t.Errorf("polled for %q", got)
	}
	if n := g.Subscriptions().Count(); n != 2 {
		t.Errorf("%d watches", n)
	}
	if done, err := openedAccounts(t, g).Revoke(t.Context(), func(*account.Account) bool { return true }); err != nil || len(done) != 1 {
		t.Fatal(done, err)
	}
	l.again()
	l.again()
	if got := users(); len(got) != 1 {
		t.Errorf("polled for %q after the account was revoked", got)
	}
}

// TestAccountTask: a job is begun and polled with the account of its caller, for nobody else, and not while that is revoked.
func TestAccountTask(t *testing.T) {
	w := newAccountWorld(t, 0)
	var seen []string // method, path and user of each request
	jobs := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Method+" "+r.URL.Path+" "+claim(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), "sub"))
		if r.Method == http.MethodPost {
			rw.Header().Set("Location", "/jobs/7")
			rw.WriteHeader(http.StatusAccepted)
			return
		}
		rw.Header().Set("Content-Type", "application/json")
		_, _ = rw.Write([]byte(`{"status":"running"}`))
	}))
	t.Cleanup(jobs.Close)
	document := strings.Replace(gatewaytest.ReportsAPI, "paths:", "servers: [{url: /}]\npaths:", 1)
	cfg := w.config(fmt.Sprintf(", state_dir: %q", t.TempDir())) + "rules: [{match: {operation: makeReport}, set: {job: {interval: 10ms}}}]\n"
	g := gatewaytest.Start(t, document, cfg, jobs.URL)
	as := func(user string) map[string]string {
		return map[string]string{"Authorization": "Bearer " + w.token(user)}
	}
	call := func(user, method, task string) string {
		in := gatewaytest.JobCall{Name: "makeReport", Tasks: true, Header: as(user)}
		if method != "" {
			in = gatewaytest.JobCall{Method: method, Tasks: true, Header: as(user), Params: `"taskId":"$TASK"`}
		}
		_, messages := gatewaytest.CallJob(t, g, in, task)
		if len(messages) == 0 {
			t.Fatalf("%s %s: no answer", user, method)
		}
		return string(messages[len(messages)-1])
	}
	if text := call("alice", "", ""); !linkForm.MatchString(text) || len(seen) > 0 {
		t.Fatalf("%q: %s", seen, text)
	}
	w.mustConnect(g, "alice", "makeReport")
	w.mustConnect(g, "bob", "makeReport")
	id := gatewaytest.TaskID([]byte(call("alice", "", "")))
	if id == "" {
		t.Fatal("no task")
	}
	// until looks at the task until its service was asked, which it is after a pause.
	until := func(done func(text string) bool) {
		t.Helper()
		timebox.Done(t, func() {
			for text := ""; !done(text) && !t.Failed(); {
				if text = call("alice", "tasks/get", id); !strings.Contains(text, `"status":"working"`) {
					t.Error(text)
				}
			}
		})
	}
	until(func(string) bool { return len(seen) > 1 })
	for _, method := range []string{"tasks/get", "tasks/cancel"} {
		if text := call("bob", method, id); !strings.Contains(text, "unknown task") {
			t.Errorf("%s: %s", method, text)
		}
	}
	if want := "POST /reports alice@shop,GET /jobs/7 alice@shop"; strings.Join(seen, ",") != want {
		t.Errorf("the service got %q, want %q", seen, want)
	}
	if done, err := openedAccounts(t, g).Revoke(t.Context(), func(a *account.Account) bool { return a.Subject == "alice" }); err != nil || len(done) != 1 {
		t.Fatal(done, err)
	}
	until(func(text string) bool { return strings.Contains(text, "token_no_account") }) // and goes on, since she may connect it again
	if len(seen) != 2 {
		t.Errorf("the service got %q after the account was revoked", seen[2:])
	}
	w.mustConnect(g, "alice", "makeReport")
	until(func(string) bool { return len(seen) > 2 })
}
