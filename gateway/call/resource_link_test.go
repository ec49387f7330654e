package call_test

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"drawbridge/gateway/deliver"
	"drawbridge/test/gatewaytest"
)

type linkResult struct {
	Content           []struct{ Type, Text, URI, Name, MIMEType string }
	StructuredContent json.RawMessage
	Contents          []struct{ URI, Text string }
}

func linkAnswer(t *testing.T, w *httptest.ResponseRecorder) (r linkResult) {
	t.Helper()
	var answer struct{ Result linkResult }
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
		t.Fatalf("%v: %s", err, w.Body)
	}
	return answer.Result
}

// TestLinks holds which answers become links, and that a link reads the same call.
func TestLinks(t *testing.T) {
	service := gatewaytest.FileService(t)
	g := gatewaytest.Start(t, gatewaytest.LinkDocument, gatewaytest.LinkConfig, service.URL)
	for _, revision := range []string{"2026-07-28", "2025-06-18", "2025-03-26"} {
		c := gatewaytest.NewClient(t, g.Handler(), revision, "")
		for _, tt := range []struct {
			tool, arguments string
			link            bool
			text            string
		}{
			{"getFile", `{"name":"large","X-Part":"7"}`, true, "The answer, 2022 bytes of JSON, an object with the members data, part, is behind this link. Read the resource within 1m, which repeats the request."},
			{"getFile", `{"name":"small"}`, false, ""},
			{"getFile", `{"name":"picture"}`, true, "The answer, 8 bytes of image/png, is behind this link. Read the resource within 1m, which repeats the request."},
			{"postFile", `{"name":"large"}`, false, ""},
			{"getFile", fmt.Sprintf(`{"name":"large","X-Part":%q}`, strings.Repeat("y", 4000)), false, ""},
		} {
			r := linkAnswer(t, c.Send("tools/call", tt.tool, tt.arguments))
			link := len(r.Content) == 2 && r.Content[1].Type == "resource_link"
			if link != (tt.link && revision >= "2025-06-18") {
				t.Errorf("%s, %s: %+v", revision, tt.arguments, r)
				continue
			}
			if !link {
				continue
			}
			if r.Content[0].Text != tt.text || string(r.StructuredContent) != "{}" || r.Content[1].Name != "getFile" {
				t.Errorf("%s, %s: %+v", revision, tt.arguments, r)
			}
			if !strings.Contains(tt.arguments, "7") {
				continue
			}
			contents := linkAnswer(t, c.Read(r.Content[1].URI)).Contents
			if len(contents) != 1 || contents[0].URI != r.Content[1].URI || !strings.HasSuffix(contents[0].Text, `x","part":"7"}`) {
				t.Errorf("%s: %+v", revision, contents)
			}
		}
	}
}

// TestLinkToResource holds that an operation that can be read gives its own URI, if that tells all arguments.
func TestLinkToResource(t *testing.T) {
	service := gatewaytest.FileService(t)
	g := gatewaytest.Start(t, gatewaytest.LinkDocument, gatewaytest.LinkConfig+`rules: [{match: {method: GET}, set: {resource: {uri: "files:{name}"}}}]`+"\n", service.URL)
	c := gatewaytest.NewClient(t, g.Handler(), "2026-07-28", "")
	for arguments, want := range map[string]string{`{"name":"large"}`: "files:large", `{"name":"large","X-Part":"7"}`: deliver.LinkScheme} {
		r := linkAnswer(t, c.Send("tools/call", "getFile", arguments))
		if len(r.Content) != 2 || !strings.HasPrefix(r.Content[1].URI, want) {
			t.Errorf("%s: %+v", arguments, r)
		}
	}
}

// TestLinksAreBound holds that a link opens for its caller alone, and lets nobody do what he may not.
func TestLinksAreBound(t *testing.T) {
	i, service := gatewaytest.NewIDP(t), gatewaytest.FileService(t)
	cfg := strings.Replace(fmt.Sprintf(gatewaytest.ProtectedConfig, gatewaytest.Issuers(i)), "base_url: $BASE,", "base_url: $BASE, links: {over: 1KiB},", 1)
	cfg = strings.Replace(cfg, "operation: purge", "operation: getFile", 1)
	g := gatewaytest.Start(t, gatewaytest.LinkDocument, cfg, service.URL)
	client := func(subject, scope string) *gatewaytest.Client {
		return gatewaytest.NewClient(t, g.Handler(), "2026-07-28", i.Token(t, map[string]any{"sub": subject, "scope": scope}))
	}
	uri := linkAnswer(t, client("ada", "orders:admin").Send("tools/call", "getFile", `{"name":"large"}`)).Content[1].URI
	if w := client("ada", "orders:admin").Read(uri); w.Code != 200 {
		t.Errorf("its caller: %d %s", w.Code, w.Body)
	}
	const lost = "resource not found: a link is good for a limited time"
	if w := client("bob", "orders:admin").Read(uri); w.Code != 400 || !strings.Contains(w.Body.String(), lost) {
		t.Errorf("another: %d %s", w.Code, w.Body)
	}
	if w := client("ada", "mcp:tools").Read(uri); w.Code != 403 {
		t.Errorf("its caller, with less: %d %s", w.Code, w.Body)
	}
	if w := client("ada", "orders:admin").Read(uri[:len(uri)-1]); w.Code != 400 || !strings.Contains(w.Body.String(), lost) {
		t.Errorf("altered: %d %s", w.Code, w.Body)
	}
}
