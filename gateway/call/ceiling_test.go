package call_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strings"
	"testing"

	"drawbridge/gateway/tokenizer"
	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/schema"
	"drawbridge/test/gatewaytest"
)

const ceilingDocument = `openapi: 3.0.3
info: {title: Store, version: "1"}
paths:
  /shaped/{key}:
    parameters: [{name: key, in: path, required: true, schema: {type: string}}]
    get: {operationId: getShaped, responses: {"200": &shaped {description: ok, content: {application/json: {schema: {$ref: "#/components/schemas/Page"}}}}}}
    post: {operationId: postShaped, responses: {"200": *shaped}}
  /list/{key}:
    parameters: [{name: key, in: path, required: true, schema: {type: string}}]
    get: {operationId: getList, responses: {"200": &list {description: ok, content: {application/json: {schema: {type: array, items: {$ref: "#/components/schemas/Item"}}}}}}}
    post: {operationId: postList, responses: {"200": *list}}
  /any/{key}:
    parameters: [{name: key, in: path, required: true, schema: {type: string}}]
    get: {operationId: getAny, responses: {"200": {description: ok}}}
    post: {operationId: postAny, responses: {"200": {description: ok}}}
components:
  schemas:
    Page:
      type: object
      required: [total, items]
      properties:
        total: {type: integer}
        items: {type: array, items: {$ref: "#/components/schemas/Item"}}
        next: {type: string}
    Item: {type: object, required: [id], properties: {id: {type: integer}, name: {type: string}, content: {type: string, format: byte}}}
`

// stored is an answer of the store: a media type and a body.
type stored struct {
	media string
	body  []byte
}

// newAnswerStore serves answers by the last segment of the path.
func newAnswerStore(t testing.TB, answers map[string]stored) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := answers[path.Base(r.URL.Path)]
		w.Header().Set("Content-Type", a.media)
		_, _ = w.Write(a.body)
	}))
	t.Cleanup(s.Close)
	return s
}

// texts are kinds of text of which a byte has few tokens or many.
func texts(r *rand.Rand) map[string]func(size int) string {
	pick := func(of string) func(int) string {
		runes := []rune(of)
		return func(size int) string {
			var b strings.Builder
			for b.Len() < size {
				b.WriteRune(runes[r.IntN(len(runes))])
			}
			return b.String()
		}
	}
	return map[string]func(int) string{
		"emoji": pick("\U0001f600\U0001f389\U0001f680\U0001f469\u200d\u2764\ufe0f\U0001f1e6\U0001f1f9"),
		"cjk":   pick("\u4f60\u597d\u4e16\u754c\u9f98\u7228\u5f41\u3042\uac00"),
		"noise": func(size int) string {
			return base64.StdEncoding.EncodeToString([]byte(pick("qxzjkvwpQXZJK")(size * 3 / 4)))
		},
		"numbers": pick("0123456789"),
		"symbols": pick("\x01\x02\x1f\"\\{}[]<>&;%$#@!\u00ad\u0301"),
		"lines":   pick("ab \n"),
		"word":    pick("a"),
		"prose": func(size int) string {
			return strings.Repeat("The chair is made of oak, and sold by the piece. ", size/49+1)
		},
	}
}

// ceilingAnswers are answers of all kinds and sizes, by a name that says which.
func ceilingAnswers(r *rand.Rand) map[string]stored {
	answers := map[string]stored{}
	quote := func(s string) string { return string(jsonscan.AppendString(nil, s)) }
	kinds := texts(r)
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		text := kinds[kind]
		for _, size := range []int{200, 4_000, 40_000, 150_000} {
			add := func(form, media, body string) {
				answers[fmt.Sprintf("%s-%s-%d", form, kind, size)] = stored{media, []byte(body)}
			}
			s := text(size)
			add("text", "text/plain; charset=utf-8", "x"+s)
			add("member", "application/json", `{"total":1,"items":[{"id":1,"name":`+quote(s)+`}],"next":"p2"}`)
			var rows, lines, events []string
			for i := range size / 200 {
				row := fmt.Sprintf(`{"id":%d,"name":%s}`, i, quote(text(100)))
				rows, lines, events = append(rows, row), append(lines, row), append(events, "data: "+row+"\n\n")
			}
			add("rows", "application/json", "["+strings.Join(rows, ",")+"]")
			add("page", "application/json", `{"total":7,"items":[`+strings.Join(rows, ",")+`],"next":"p2"}`)
			add("lines", "application/x-ndjson", strings.Join(lines, "\n")+"\n")
			add("events", "text/event-stream", strings.Join(events, ""))
			if size <= 40_000 {
				names := "{"
				for i := range size / 200 {
					names += quote(fmt.Sprint(i)+text(150)) + ":1,"
				}
				add("names", "application/json", names+`"total":1}`)
				add("parts", "multipart/form-data; boundary=b", "--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n"+s+
					"\r\n--b\r\nContent-Type: application/json\r\nContent-Disposition: form-data; name=\"b\"\r\n\r\n{\"name\":"+quote(s)+"}\r\n--b\r\nContent-Type: application/pdf\r\n\r\n%PDF-1.7 "+s[:100]+"\r\n--b--\r\n")
			}
		}
	}
	answers["number"] = stored{"application/json", []byte(strings.Repeat("7", 200_000))}
	answers["deep"] = stored{"application/json", []byte(strings.Repeat(`{"a":[`, 40) + strings.Repeat(`1,`, 50_000) + "1" + strings.Repeat(`]}`, 40))}
	many := ""
	for range 100 {
		many += "--b\r\nContent-Type: application/octet-stream\r\nContent-Disposition: attachment; filename=\"" + strings.Repeat("n", 100) + "\"\r\n\r\n\x00\x01\r\n"
	}
	answers["many"] = stored{"multipart/mixed; boundary=b", []byte(many + "--b--\r\n")}
	return answers
}

// ceilingResult is a result as a client reads it.
type ceilingResult struct {
	Content []struct {
		Type, Text, URI string
		Resource        struct{ URI, Blob string }
	}
	StructuredContent json.RawMessage
	IsError           bool
	Contents          []struct{ URI, Text, Blob string }
}

// tokens returns what the result costs in a context: its texts or structuredContent, whichever costs more.
func (r *ceilingResult) tokens() int {
	texts := 0
	for _, b := range r.Content {
		texts += tokenizer.Count([]byte(b.Text))
	}
	return max(texts, tokenizer.Count(r.StructuredContent))
}

// cut reports whether the result says that it lacks something.
func (r *ceilingResult) cut() bool {
	for _, b := range r.Content {
		if strings.Contains(b.Text, "The answer is cut to ") {
			return true
		}
	}
	return false
}

func readCeiling(t *testing.T, w *httptest.ResponseRecorder) (r ceilingResult) {
	t.Helper()
	body := w.Body.Bytes()
	if i := bytes.LastIndex(body, []byte("data: ")); i >= 0 && !bytes.HasPrefix(body, []byte("{")) {
		body = body[i+len("data: "):]
	}
	if _, err := jsonscan.Scan(bytes.TrimSpace(body), jsonscan.Options{Unique: true}); err != nil {
		t.Fatalf("not strict JSON: %v: %.300s", err, body)
	}
	var answer struct{ Result ceilingResult }
	if err := json.Unmarshal(body, &answer); err != nil {
		t.Fatalf("%v: %.300s", err, body)
	}
	return answer.Result
}

// outputSchemas returns the output schemas of the tools as clients of a revision get them.
func outputSchemas(t *testing.T, c *gatewaytest.Client) map[string]*schema.Validator {
	t.Helper()
	var list struct {
		Result struct {
			Tools []struct {
				Name         string
				OutputSchema json.RawMessage
			}
		}
	}
	if err := json.Unmarshal(c.Send("tools/list", "", "").Body.Bytes(), &list); err != nil {
		t.Fatal(err)
	}
	all := map[string]*schema.Validator{}
	for _, tool := range list.Result.Tools {
		if tool.OutputSchema == nil {
			continue
		}
		v, err := schema.Compile(tool.OutputSchema)
		if err != nil {
			t.Fatal(err)
		}
		all[tool.Name] = v
	}
	return all
}

// ceilingClient is a client of a gateway with a ceiling.
type ceilingClient struct {
	*gatewaytest.Client
	where   string
	limit   int
	schemas map[string]*schema.Validator
}

// ceilingClients returns clients of all revisions that differ, at gateways of all forms of results.
func ceilingClients(t *testing.T, limit int, base string) (clients []ceilingClient) {
	for _, form := range []string{"answers: both", "answers: structured", "answers: text", "schema_profile: portable"} {
		cfg := fmt.Sprintf("apis: [{name: shop, spec: $SPEC, base_url: $BASE, %s}]\nlimits: {max_result_tokens: %d, address_rate: off, principal_rate: off}\ntools: {presentation: all}\n", form, limit)
		g := gatewaytest.Start(t, ceilingDocument, cfg, base)
		for _, revision := range []string{"2026-07-28", "2025-06-18", "2024-11-05"} {
			c := gatewaytest.NewClient(t, g.Handler(), revision, "")
			clients = append(clients, ceilingClient{c, fmt.Sprintf("%d, %s, %s", limit, form, revision), limit, outputSchemas(t, c)})
		}
	}
	return clients
}

// check calls a tool and checks its result. size is the number of tokens of the answer.
func (c *ceilingClient) check(tool, key string, size int) {
	t, where := c.T, fmt.Sprintf("%s, %s of %s", c.where, tool, key)
	r := readCeiling(t, c.Send("tools/call", tool, fmt.Sprintf(`{"key":%q}`, key)))
	if n := r.tokens(); n > c.limit {
		t.Errorf("%s: %d tokens", where, n)
	}
	if r.IsError || len(r.Content) == 0 {
		t.Errorf("%s: an error: %.200s", where, r.Content)
	}
	for _, b := range r.Content {
		if b.Type == "text" && strings.TrimSpace(b.Text) == "" {
			t.Errorf("%s: a block of white space", where)
		}
	}
	if size > 2*c.limit && key != "many" && !r.cut() {
		t.Errorf("%s: %d tokens, of which the result has %d, and does not say so", where, size, r.tokens())
	}
	if size < 300 && r.cut() {
		t.Errorf("%s: is cut: %s", where, r.Content)
	}
	v := c.schemas[tool]
	if v == nil {
		return
	}
	var value any
	d := json.NewDecoder(bytes.NewReader(r.StructuredContent))
	d.UseNumber()
	if err := d.Decode(&value); err != nil {
		t.Fatalf("%s: %v", where, err)
	}
	if faults := v.Validate(value); len(faults) > 0 {
		t.Errorf("%s: structuredContent does not fit the output schema: %v", where, faults)
	}
}

// TestCeiling: whatever a service answers, of any method and in any revision and form, no result has more tokens than the ceiling, with
// all that is said beside the answer. It is no error, says that it lacks something if it does, and fits its output schema (pains
// row 152).
func TestCeiling(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	answers := ceilingAnswers(r)
	service := newAnswerStore(t, answers)
	clients := append(ceilingClients(t, 1_000, service.URL), ceilingClients(t, 25_000, service.URL)...)
	for _, key := range slices.Sorted(maps.Keys(answers)) {
		a := answers[key]
		of := "Any"
		switch {
		case strings.HasPrefix(key, "rows") || key == "number":
			of = "List"
		case strings.HasPrefix(a.media, "application/json") || strings.HasPrefix(key, "text"):
			of = "Shaped"
		}
		size := tokenizer.Count(a.body)
		for _, i := range r.Perm(len(clients))[:4] {
			clients[i].check([]string{"get", "post"}[r.IntN(2)]+of, key, size)
		}
	}
}

// TestCeilingReachesClientsOnly: the link of a result that was cut leads to the whole answer, and the operator's call has the whole.
func TestCeilingReachesClientsOnly(t *testing.T) {
	rows := "[" + strings.Repeat(`{"id":1,"name":"chair"},`, 20_000) + `{"id":2}]`
	answers := map[string]stored{
		"rows": {"application/json", []byte(rows)}, "report.pdf": {"application/pdf", []byte("%PDF-1.7" + strings.Repeat("\x00", 200_000))},
		"small.pdf": {"application/pdf", []byte("%PDF-1.7" + strings.Repeat("\x00", 90_000))},
	}
	service := newAnswerStore(t, answers)
	g := gatewaytest.Start(t, ceilingDocument, "apis: [{name: shop, spec: $SPEC, base_url: $BASE}]\n", service.URL)
	for _, revision := range []string{"2026-07-28", "2025-11-25", "2025-03-26"} {
		c := gatewaytest.NewClient(t, g.Handler(), revision, "")
		for key, a := range answers {
			r := readCeiling(t, c.Send("tools/call", "getAny", fmt.Sprintf(`{"key":%q}`, key)))
			size := 0
			for _, block := range r.Content {
				size += len(block.Resource.Blob)
			}
			if key == "small.pdf" {
				if size < 90_000 || len(r.Content) != 2 || r.Content[0].Type != "text" { // a caption, and the data
					t.Errorf("%s, %s: %d bytes", revision, key, size)
				}
				continue
			}
			_, rest, _ := strings.Cut(fmt.Sprint(r.Content), "drawbridge-link:")
			uri := "drawbridge-link:" + rest[:strings.IndexFunc(rest+" ", func(r rune) bool { return r == ' ' || r == ';' || r == '}' })]
			if size > 0 || rest == "" {
				t.Fatalf("%s, %s: %.300s", revision, key, fmt.Sprint(r.Content))
			}
			contents := readCeiling(t, c.Read(uri)).Contents
			if len(contents) != 1 || contents[0].Text != string(a.body) && contents[0].Blob != base64.StdEncoding.EncodeToString(a.body) {
				t.Errorf("%s, %s: read %d contents that are not the whole", revision, key, len(contents))
			}
			inline := readCeiling(t, c.Send("tools/call", "postAny", fmt.Sprintf(`{"key":%q}`, key)))
			if text := fmt.Sprint(inline.Content); inline.IsError || strings.Contains(text, "drawbridge-link:") || key == "rows" != strings.Contains(text, "do not repeat it") {
				t.Errorf("%s, %s of a method that is not safe: %.300s", revision, key, text[max(0, len(text)-300):])
			}
			whole, err := gatewaytest.CallAsOperator(t.Context(), g, "getAny", json.RawMessage(fmt.Sprintf(`{"key":%q}`, key)))
			if err != nil || len(whole) < len(a.body) {
				t.Errorf("%s, %s: the operator gets %d bytes, %v", revision, key, len(whole), err)
			}
		}
	}
}

// TestCeilingOfErrors: the text of an error is within a low ceiling.
func TestCeilingOfErrors(t *testing.T) {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnprocessableEntity)
		_, _ = io.WriteString(w, strings.Repeat("\u9f98", 2500))
	}))
	defer service.Close()
	g := gatewaytest.Start(t, ceilingDocument, "apis: [{name: shop, spec: $SPEC, base_url: $BASE}]\nlimits: {max_result_tokens: 1k}\n", service.URL)
	r := readCeiling(t, gatewaytest.NewClient(t, g.Handler(), "2026-07-28", "").Send("tools/call", "postAny", `{"key":"x"}`))
	if n := r.tokens(); n > 1000 || !r.IsError || !strings.Contains(r.Content[0].Text, "left out") {
		t.Errorf("%d tokens: %.200s", n, r.Content)
	}
}

// TestCeilingOfPrompts: the calls and resources of a prompt share the ceiling.
func TestCeilingOfPrompts(t *testing.T) {
	service := newAnswerStore(t, map[string]stored{
		"a": {"application/json", []byte("[" + strings.Repeat(`{"id":1,"name":"chair"},`, 2_000) + `{"id":2}]`)}, "b": {"text/plain", []byte(strings.Repeat("A chair.\n", 5_000))},
		"c": {"application/pdf", []byte("%PDF-1.7" + strings.Repeat("\x00", 200_000))},
	})
	g := gatewaytest.Start(t, ceilingDocument, `apis: [{name: shop, spec: $SPEC, base_url: $BASE}]
limits: {max_result_tokens: 4k}
rules: [{match: {operation: getAny}, set: {resource: {uri: "shop:{key}"}}}]
prompts:
  - name: report
    messages:
      - text: Compare these.
      - {tool: getAny, arguments: {key: a}}
      - {resource: "shop:b"}
      - {tool: getAny, arguments: {key: c}}
`, service.URL)
	for _, revision := range []string{"2026-07-28", "2024-11-05"} {
		var answer struct {
			Result struct {
				Messages []struct {
					Content struct {
						Text     string
						Resource struct{ Text, Blob string }
					}
				}
			}
		}
		body := gatewaytest.NewClient(t, g.Handler(), revision, "").Send("prompts/get", "report", "{}").Body.Bytes()
		if err := json.Unmarshal(body, &answer); err != nil {
			t.Fatal(err)
		}
		n, text := 0, ""
		for _, m := range answer.Result.Messages {
			n += tokenizer.Count([]byte(m.Content.Text)) + tokenizer.Count([]byte(m.Content.Resource.Text)) + len(m.Content.Resource.Blob)
			text += m.Content.Text
		}
		if n > 4000 || n < 2000 || strings.Count(text, "The answer is cut to ") != 2 || !strings.Contains(text, "read the resource shop:c;") {
			t.Errorf("%s: %d tokens in %d messages: %s", revision, n, len(answer.Result.Messages), text[max(0, len(text)-500):])
		}
	}
}
