package call_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"drawbridge/test/cases"
	"drawbridge/test/gatewaytest"
	"drawbridge/test/update"
)

// TestServers runs the cases of testdata/servers: a document, a configuration whose calls go to servers that claims select, and calls
// with the claims of their callers. $ACME and $GLOBEX are two services, of which $ACMEHOST and $GLOBEXHOST are host and port; both name
// themselves in their answers, and answer /jobs with a job of their own.
func TestServers(t *testing.T) {
	cases.Run(t, "testdata/servers/*.txtar", runServerCase)
}

func runServerCase(t *testing.T, file string, archive *txtar.Archive) {
	section := func(name string) string {
		for _, f := range archive.Files {
			if f.Name == name {
				return string(f.Data)
			}
		}
		return ""
	}
	var mu sync.Mutex
	var seen []string
	urls := map[string]string{}
	for _, name := range []string{"ACME", "GLOBEX"} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			line := fmt.Sprintf("%s $%s%s", r.Method, name, r.URL.RequestURI())
			for _, header := range []string{"Authorization", "X-Key"} {
				if value := r.Header.Get(header); value != "" {
					line += fmt.Sprintf(" %s: %s", header, value)
				}
			}
			seen = append(seen, line)
			w.Header().Set("Content-Type", "application/json")
			switch {
			case strings.HasSuffix(r.URL.Path, "/redirected"):
				w.Header().Set("Location", urls["ACME"]+"/v1/orders")
				w.WriteHeader(http.StatusTemporaryRedirect)
			case strings.HasSuffix(r.URL.Path, "/jobs"):
				w.WriteHeader(http.StatusAccepted)
				_, _ = fmt.Fprint(w, `{"id":"7"}`)
			case strings.HasSuffix(r.URL.Path, "/jobs/7"):
				_, _ = fmt.Fprintf(w, `{"state":"done","of":%q}`, name)
			default:
				_, _ = fmt.Fprintf(w, `{"of":%q}`, name)
			}
		}))
		t.Cleanup(s.Close)
		urls[name] = s.URL
	}
	idp := gatewaytest.NewIDP(t)
	replace := strings.NewReplacer("$ACMEHOST", strings.TrimPrefix(urls["ACME"], "http://"), "$GLOBEXHOST", strings.TrimPrefix(urls["GLOBEX"], "http://"),
		"$ACME", urls["ACME"], "$GLOBEX", urls["GLOBEX"])
	cfg := "server: {public_url: https://mcp.example.com}\nauth: {issuers: [" + gatewaytest.Issuers(idp) + "], default_scopes: [mcp:tools]}\n" + section("config.yaml")
	g := gatewaytest.Start(t, replace.Replace(section("api.yaml")), replace.Replace(cfg), "")

	hide := strings.NewReplacer(urls["ACME"], "$ACME", urls["GLOBEX"], "$GLOBEX", strings.TrimPrefix(urls["ACME"], "http://"), "$ACMEHOST",
		strings.TrimPrefix(urls["GLOBEX"], "http://"), "$GLOBEXHOST")
	var b strings.Builder
	for line := range strings.Lines(section("calls")) {
		var c struct {
			Claims    map[string]any
			Tool      string
			Arguments json.RawMessage
			Operator  bool
		}
		if err := json.Unmarshal([]byte(replace.Replace(line)), &c); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		seen = nil
		var body string
		if c.Operator {
			result, err := gatewaytest.CallAsOperator(t.Context(), g, c.Tool, gatewaytest.OrEmpty(c.Arguments))
			if err != nil {
				t.Fatal(err)
			}
			body = string(result)
		} else {
			body = gatewaytest.NewClient(t, g.Handler(), gatewaytest.Eras[0], idp.Token(t, c.Claims)).Send("tools/call", c.Tool, string(gatewaytest.OrEmpty(c.Arguments))).Body.String()
		}
		fmt.Fprintf(&b, "%s", line)
		for _, request := range seen {
			fmt.Fprintf(&b, "  %s\n", request)
		}
		fmt.Fprintf(&b, "  = %s\n", hide.Replace(textOf(t, body)))
	}
	fmt.Fprintf(&b, "access: %s\n", hide.Replace(g.Access(g.Plans()[0]).BaseURL))
	if *update.Expected {
		gatewaytest.Set(archive, "want", b.String())
		cases.Write(t, file, archive)
		return
	}
	if diff := cmp.Diff(section("want"), b.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// textOf returns the first text of a result, in a response or by itself.
func textOf(t *testing.T, body string) string {
	t.Helper()
	type result struct {
		Content []struct{ Text string }
	}
	var r struct {
		result
		Result result
	}
	if err := json.Unmarshal([]byte(body), &r); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	for _, c := range append(r.Content, r.Result.Content...) {
		return c.Text
	}
	return body
}

// TestConsentShowsServer holds that the user who is asked sees which server the call goes to, also by its default.
func TestConsentShowsServer(t *testing.T) {
	g := gatewaytest.Start(t, `openapi: 3.1.0
info: {title: Shop, version: "1"}
servers: [{url: "http://127.0.0.1:9/{region}", variables: {region: {default: eu}}}]
paths: {/orders: {delete: {operationId: purge, responses: {"200": {description: OK}}}}}
`, `apis: [{name: shop, spec: $SPEC, server_variables: {region: {argument: true, allow: [eu, us], default: us}}}]
tools: {confirm: destructive}
`, "")
	for arguments, want := range map[string]string{`{"region":"eu"}`: "eu", `{}`: "us"} {
		_, result, body := gatewaytest.Modern(t, g.Handler(), "", "purge", arguments, "", true)
		if asked := string(result["inputRequests"]); !strings.Contains(asked, `region`) || !strings.Contains(asked, want) {
			t.Errorf("%s: the user is asked %s; %.300s", arguments, asked, body)
		}
	}
}
