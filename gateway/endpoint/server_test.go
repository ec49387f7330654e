package endpoint_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"drawbridge/test/update"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"drawbridge/gateway/admin"
	"drawbridge/test/cases"
	"drawbridge/test/gatewaytest"
)

// TestServers runs the cases of testdata/servers: a document whose operations have servers of their own, a configuration, and what each tool
// sends where when it is called without arguments. $BASE and $OTHER are two services, and $DOCUMENT is the document as $BASE serves it.
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
	document := ""
	services := map[string]*httptest.Server{}
	for _, name := range []string{"$BASE", "$OTHER"} {
		services[name] = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/docs/openapi.yaml" {
				_, _ = w.Write([]byte(document))
				return
			}
			mu.Lock()
			defer mu.Unlock()
			line := fmt.Sprintf("%s %s%s", r.Method, name, r.URL.RequestURI())
			for _, header := range []string{"Authorization", "Cookie", "X-Key", "X-Tenant", "X-Drawbridge-Identity"} {
				if value := r.Header.Get(header); value != "" {
					line += fmt.Sprintf(" %s: %s", header, value)
				}
			}
			seen = append(seen, line)
		}))
		t.Cleanup(services[name].Close)
	}
	base, other := services["$BASE"].URL, services["$OTHER"].URL
	replace := strings.NewReplacer("$BASE", base, "$OTHER", other, "$DOCUMENT", base+"/docs/openapi.yaml")
	document = replace.Replace(section("api.yaml"))
	g := gatewaytest.Start(t, document, replace.Replace(section("config.yaml")), base)

	report, _ := g.Report(g.Status().APIs[0].Name)
	var b strings.Builder
	for _, op := range report.Operations {
		fmt.Fprintf(&b, "%s %s: ", op.Method, op.Path)
		if op.Fate == admin.Skipped {
			fmt.Fprintf(&b, "%s: %s\n", op.Reasons[0].Code, op.Reasons[0].Message)
			continue
		}
		seen = nil
		_, answer := gatewaytest.Ask(t, g.Handler(), "", "tools/call", op.Tool, fmt.Sprintf(`"name":%q,"arguments":{}`, op.Tool))
		if len(seen) != 1 {
			fmt.Fprintf(&b, "%q\n", seen)
			continue
		}
		fmt.Fprintf(&b, "%s\n", seen[0])
		if strings.Contains(string(answer), `"isError":true`) {
			t.Errorf("%s: %s", op.Tool, answer)
		}
		if at := strings.Fields(seen[0])[1]; !strings.HasPrefix(replace.Replace(at), op.Access.BaseURL) {
			t.Errorf("%s: %s was called, and the report says %s", op.Tool, at, op.Access.BaseURL)
		}
		if sent := strings.Contains(seen[0], "Authorization: ") || strings.Contains(seen[0], "X-Key: "); sent == (op.Access.Credential == "none") {
			t.Errorf("%s: the report says that the credential is %q", op.Tool, op.Access.Credential)
		}
	}
	fmt.Fprintf(&b, "state: %s\n", report.API.State)
	for _, text := range slices.Concat(report.API.Faults, report.API.Notes) {
		fmt.Fprintf(&b, "%s\n", text)
	}
	for _, p := range report.Problems {
		fmt.Fprintf(&b, "%s: %s\n", p.Code, p.Message)
	}
	got := strings.NewReplacer(base, "$BASE", other, "$OTHER").Replace(b.String())
	if *update.Expected {
		gatewaytest.Set(archive, "want", got)
		cases.Write(t, file, archive)
		return
	}
	if diff := cmp.Diff(section("want"), got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
