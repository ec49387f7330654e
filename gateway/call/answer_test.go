package call_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode/utf8"

	"drawbridge/gateway/render"
	"drawbridge/openapi/jsonscan"
	"drawbridge/test/gatewaytest"
)

// TestStreamCutByDeadline: of a stream of events that does not end, what came before the deadline is the answer, and it
// says that it is not all there is (P3, P5). JSON lines are not meant to go on for ever: there it is an error.
func TestStreamCutByDeadline(t *testing.T) {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := "data: {\"n\": 1}\n\ndata: {\"n\": 2}\n\ndata: {\"n\""
		w.Header().Set("Content-Type", "text/event-stream")
		if r.URL.Path == "/lines" {
			w.Header().Set("Content-Type", "application/jsonl")
			body = "{\"n\": 1}\n"
		}
		_, _ = io.WriteString(w, body)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done() // the connection is closed, not returned to the pool
	}))
	defer service.Close()
	for _, c := range []struct{ answers, tool, want string }{
		{"both", "watch", `"content":[{"type":"text","text":"[{\"n\":1},{\"n\":2}]"},{"type":"text","text":"The stream of events had not ended when the time for this call was up: these are the first 2 events, more may follow."}],"structuredContent":{"result":[{"n":1},{"n":2}]}`},
		{"structured", "watch", `"content":[{"type":"text","text":"The answer is in structuredContent.result: an array of 2 elements."},{"type":"text","text":"The stream of events had not ended when the time for this call was up: these are the first 2 events, more may follow."}],"structuredContent":{"result":[{"n":1},{"n":2}]}`},
		{"both", "lines", `The service \"answers\" did not answer in time.`},
	} {
		g := gatewaytest.Start(t, gatewaytest.AnswerDocument, "apis: [{name: answers, spec: $SPEC, base_url: $BASE, timeout: 400ms, answers: "+c.answers+"}]", service.URL)
		_, got := gatewaytest.Ask(t, g.Handler(), "2025-11-25", "tools/call", c.tool, fmt.Sprintf(`"name":%q,"arguments":{}`, c.tool))
		if !strings.Contains(string(got), c.want) {
			t.Errorf("%s: %s: %s", c.tool, c.answers, got)
		}
	}
}

// TestRefusalIsCutClean: a secret that stands where an error is cut is not shown in part, and neither is a character (P7).
func TestRefusalIsCutClean(t *testing.T) {
	const detail = 600 // the most bytes of the service's own words that come first, see render.UpstreamError
	const secret = "canary-0123456789-abcdefghij"
	var body string
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if strings.HasPrefix(body, "{") {
			w.Header().Set("Content-Type", "application/json")
		}
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, body)
	}))
	defer service.Close()
	for _, credential := range []string{", credential: {type: bearer, token: '${K:-" + secret + "}'}", ""} {
		g := gatewaytest.Start(t, gatewaytest.AnswerDocument, "apis: [{name: answers, spec: $SPEC, base_url: $BASE"+credential+"}]", service.URL)
		for shift := range 80 {
			fill := strings.Repeat("é", (render.MaxErrorBody-shift)/2)
			body = fill + strings.Repeat(secret+" ", 20)
			if credential == "" {
				body = strings.Repeat("x", shift%4) + strings.Repeat("€", render.MaxErrorBody)
			}
			if shift%2 == 1 && credential != "" { // the lead is cut long before
				body = `{"title":"Bad","detail":"` + strings.Repeat(" ", 8*detail-1-shift/3) + secret + strings.Repeat("x", render.MaxErrorBody) + `"}`
			}
			_, got := gatewaytest.Ask(t, g.Handler(), "2025-11-25", "tools/call", "watch", `"name":"watch","arguments":{}`)
			text := string(got)
			if strings.Contains(text, "canary") || strings.Contains(text, "\uFFFD") || !utf8.ValidString(text) || !json.Valid(got) {
				t.Fatalf("shift %d: …%s", shift, text[max(0, len(text)-600):])
			}
			if !strings.Contains(text, "bytes are shown)") {
				t.Fatalf("shift %d: it does not say that it was cut", shift)
			}
		}
	}
}

// TestEchoInError: an error shows no form of the API's credential either, however short, in which writers of JSON and XML have it; nor what
// looks like one of somebody else.
func TestEchoInError(t *testing.T) {
	var media, body string
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", media)
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, body)
	}))
	defer service.Close()
	const json, xml = "application/json", "application/xml"
	for _, c := range []struct{ secret, media, body, want string }{
		{"canary/4711+xYz", json, `{"sent":"canary\/4711+xYz"}`, `{"sent":"[redacted]"}`},
		{"canary/4711+xYz", json, `{"sent":"canary/4711\u002BxYz"}`, `{"sent":"[redacted]"}`},
		{"canary/4711+xYz", json, `{"sent":"canary\/4711\u002bxYz"}`, `{"sent":"[redacted]"}`},
		{"canary/4711+xYz", json, `{"Authorization":"Bearer canary\/4711+xYz"}`, `{"Authorization":"Bearer [redacted]"}`},
		{"another-one", json, `{"Authorization":"Bearer canary\/4711+xYz"}`, `{"Authorization":"Bearer [redacted]"}`},
		{"a/b", json, `{"sent":"a\/b"}`, `{"sent":"[redacted]"}`},
		{"canary&4711<x>", json, `{"sent":"canary\u00264711\u003cx\u003e"}`, `{"sent":"[redacted]"}`},
		{"canary&4711<x>", xml, `<e>canary&amp;4711&lt;x&gt; </e>`, `<e>[redacted] </e>`},
		{"canary&4711<x>", xml, `<e>canary&amp;4711&lt;x> </e>`, `<e>[redacted] </e>`},
		{"canary'4711", xml, `<e a="canary&apos;4711" b="canary&#39;4711" c="canary&#039;4711"/>`, `<e a="[redacted]" b="[redacted]" c="[redacted]"/>`},
		{"canary'4711", xml, "<e>canary&#x27;4711</e>", "<e>[redacted]</e>"},
	} {
		media, body = c.media, c.body
		g := gatewaytest.Start(t, gatewaytest.AnswerDocument, "apis: [{name: answers, spec: $SPEC, base_url: $BASE, credential: {type: bearer, token: \"${K:-"+c.secret+"}\"}}]", service.URL)
		_, got := gatewaytest.Ask(t, g.Handler(), "2025-11-25", "tools/call", "watch", `"name":"watch","arguments":{}`)
		if text := string(got); !strings.Contains(text, string(jsonscan.AppendEscaped(nil, []byte(c.want)))) {
			t.Errorf("%s in %s: %s", c.secret, c.body, got)
		}
	}
}

// TestEchoBesideTheAnswer: a service may put the credential into a path that it leads to, into the name of a field, or into
// one that the words about a mismatch repeat.
func TestEchoBesideTheAnswer(t *testing.T) {
	const key = "the-key-of-the-api"
	docs := gatewaytest.NewShelf(t, map[string]string{"/spec.json": `{"openapi":"3.1.0","info":{"title":"S","version":"1"},"paths":{
		"/moved":{"get":{"operationId":"moved","responses":{"302":{"description":"elsewhere"}}}},"/astray":{"get":{"operationId":"astray","responses":{}}},
		"/made":{"post":{"operationId":"made","responses":{}}},"/form":{"get":{"operationId":"form","responses":{}}},
		"/drift":{"get":{"operationId":"drift","responses":{"200":{"description":"ok","content":{"application/json":{"schema":{"type":"object","properties":{"` + key + `":{"type":"integer"}}}}}}}}}}}`})
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		secret := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		switch r.URL.Path {
		case "/moved", "/astray":
			w.Header().Set("Location", "/login/"+secret)
			w.WriteHeader(http.StatusFound)
		case "/made":
			w.Header().Set("Location", "/things/"+secret)
			w.WriteHeader(http.StatusCreated)
		case "/form":
			w.Header().Set("Content-Type", "multipart/form-data; boundary=x")
			_, _ = io.WriteString(w, "--x\r\nContent-Disposition: form-data; name=\""+secret+"\"\r\n\r\n1\r\n--x\r\nContent-Disposition: form-data; name=b\r\n\r\n2\r\n--x--\r\n")
		case "/drift":
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"`+secret+`":"x"}`)
		}
	}))
	defer service.Close()
	r := gatewaytest.Run(t, map[string]string{"drawbridge.yaml": "apis: [{spec: '" + docs.URL + "/spec.json', base_url: '" + service.URL + "', credential: {type: bearer, token: " + key + "}}]\n"})
	r.Served()
	for _, name := range []string{"moved", "astray", "made", "form", "drift"} {
		status, answer := gatewaytest.Ask(t, r.Handler(), gatewaytest.Eras[0], "tools/call", name, `"name":"`+name+`","arguments":{}`)
		if text := string(answer); status != 200 || strings.Contains(text, key) || !strings.Contains(text, "[redacted]") {
			t.Errorf("%s: %d %s", name, status, text)
		}
	}
}

// TestDoubledNames is P4: an answer in which a name stands twice is delivered as it came, told and counted, where it is held against a schema.
func TestDoubledNames(t *testing.T) {
	const body = `{"id":1,"id":2}`
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, body)
	}))
	defer service.Close()
	for options, told := range map[string]bool{"": true, ", answers: structured": true, ", answers: text": false, ", output_schemas: off": false} {
		g := gatewaytest.Start(t, gatewaytest.Document("Shop", "list"), "apis: [{name: shop, spec: $SPEC, base_url: $BASE"+options+"}]\n", service.URL)
		for _, revision := range append([]string{"2024-11-05"}, gatewaytest.Eras...) { // the oldest has no structuredContent
			w := gatewaytest.NewClient(t, g.Handler(), revision, "").Call("list")
			structured := strings.Contains(w.Body.String(), `"structuredContent":`+body)
			if told := told && revision > "2025"; structured != told || strings.Contains(w.Body.String(), `"drawbridge/contractDrift":"/id: the name stands twice"`) != told {
				t.Errorf("%s, %q: %s", revision, options, w.Body)
			}
		}
		want := `drawbridge_contract_drift_total{api="shop",tool="list"} 2`
		if !told {
			want = ""
		}
		if got := strings.Join(gatewaytest.MetricLines(g, "drawbridge_contract_drift_total{"), ""); got != want && (told || !strings.HasSuffix(got, " 0")) {
			t.Errorf("%q: %q, want %q", options, got, want)
		}
	}
}
