package console

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"drawbridge/config"
	"drawbridge/gateway/admin"
	"drawbridge/gateway/call"
	"drawbridge/gateway/catalog"
	"drawbridge/gateway/console/signin"
	"drawbridge/gateway/mcp"
	"drawbridge/openapi/text"
)

// Trials calls tools for operators: with the credential that the API has itself, and with no user's identity.
type Trials interface {
	// Trial describes a tool; false if there is none of that name.
	Trial(tool string) (TrialTool, bool)
	// Request returns the request to the service that a call would send, without secrets. The error says why there is none.
	Request(ctx context.Context, tool string, args json.RawMessage) (call.Exchange, error)
	// Try calls a tool, which the operator has confirmed if it needs that. The call and its audit record name the actor. The
	// error says why no call was made.
	Try(ctx context.Context, actor, tool string, args json.RawMessage) (TrialResult, error)
}

// TrialTool is a tool that an operator may try.
type TrialTool struct {
	Name, Title, API string
	Method, Path     string          // of its operation
	Input            json.RawMessage // schema of its arguments
	Example          json.RawMessage // arguments that fit; nil if none are known
	Confirm          bool            // its calls need a confirmation
	Refused          string          // why it can't be called without a user; "" if it can
}

// TrialResult is what came of a call.
type TrialResult struct {
	Exchanges []call.Exchange // requests to the service, and its answers, without secrets
	Result    json.RawMessage // of tools/call
	Cause     string          // why the service did not answer; "" if it did
}

// maxShownResult is the most bytes of an MCP result that the page shows.
const maxShownResult = 256 << 10

// tryIndexData is what the page on which an operator finds a tool shows.
type tryIndexData struct {
	Query string
	Rows  []toolRow
}

// tryData is what the page Try shows.
type tryData struct {
	Tool      TrialTool
	Fields    []tryField
	Arguments string // JSON
	Problem   string // why the arguments can't be used, or no call was made
	Request   string // to the service, as it would be sent
	NoRequest string // why there is none; "" if there is
	Curl      string // command that makes the call as a client
	Consent   string // proof of what is confirmed, if the call waits for the confirmation
	Ran       bool
	Actor     string
	Result    TrialResult
	JSON      string // the MCP result, indented
	Cut       bool   // JSON is only its beginning
	Failed    bool   // the result is an error
	Elapsed   time.Duration
}

// outcomeWord says whether the call failed.
func (d tryData) outcomeWord() string {
	if d.Failed {
		return "error"
	}
	return "ok"
}

// tryIndex serves the page on which an operator finds a tool, while the name or a purpose is typed.
func (c *Console) tryIndex(w http.ResponseWriter, r *http.Request) {
	d := tryIndexData{Query: strings.TrimSpace(r.URL.Query().Get("tool"))}
	if _, ok := c.o.Trials.Trial(d.Query); ok && r.Header.Get("HX-Request") == "" {
		http.Redirect(w, r, tryURL(d.Query), http.StatusSeeOther)
		return
	}
	if set := c.o.Tools(); set != nil && d.Query != "" {
		d.Rows = rowsOf(set, search(r.Context(), set, d.Query, func(*catalog.Tool) bool { return true }))
	}
	c.render(w, r, d)
}

// tryPage serves the form of a tool.
func (c *Console) tryPage(w http.ResponseWriter, r *http.Request) {
	tool, ok := c.o.Trials.Trial(r.PathValue("tool"))
	if !ok {
		c.fail(w, r, http.StatusNotFound, "There is no such tool.")
		return
	}
	args := visible([]byte(cmp.Or(string(tool.Example), "{}")))
	data := tryData{Tool: tool, Fields: newTryForm(tool.Input).fill(args), Arguments: string(args)}
	c.describeCall(r.Context(), &data, args)
	c.render(w, r, data)
}

// try makes the call that a form asks for, or asks for the confirmation first.
func (c *Console) try(w http.ResponseWriter, r *http.Request) {
	tool, ok := c.o.Trials.Trial(r.PathValue("tool"))
	if !ok {
		c.fail(w, r, http.StatusNotFound, "There is no such tool.")
		return
	}
	form := newTryForm(tool.Input)
	data := tryData{Tool: tool}
	args, fields, err := form.arguments(r)
	data.Fields, data.Arguments = fields, string(args)
	session := c.session(r)
	switch {
	case tool.Refused != "":
	case err != nil:
		data.Problem = err.Error()
	case r.PostFormValue("show") == "request":
	case tool.Confirm && r.PostFormValue("consent") != consentTo(session, tool.Name, args):
		data.Consent = consentTo(session, tool.Name, args)
	default:
		_ = http.NewResponseController(w).SetWriteDeadline(time.Time{}) // the tool has its own timeout
		c.runTrial(r, session, &data, args)
		admin.ExtendDeadline(w)
	}
	if err == nil {
		c.describeCall(r.Context(), &data, args)
	}
	c.render(w, r, data)
}

// describeCall adds the call to the page: the request to the service as it would be sent, and the command of a client.
func (c *Console) describeCall(ctx context.Context, data *tryData, args json.RawMessage) {
	if data.Tool.Refused != "" {
		return
	}
	request, err := c.o.Trials.Request(ctx, data.Tool.Name, args)
	if err != nil {
		data.NoRequest = err.Error()
	} else {
		data.Request = requestText(&request)
	}
	data.Curl = curlCall(c.o.Config(), data.Tool.Name, args)
}

// curlCall returns the command that calls a tool at /mcp.
func curlCall(c *config.Config, tool string, args json.RawMessage) string {
	revision := mcp.Revisions()[0]
	message, _ := json.Marshal(map[string]any{ // the arguments are valid JSON
		"jsonrpc": "2.0", "id": 1, "method": "tools/call",
		"params": map[string]any{
			"name": tool, "arguments": args,
			"_meta": map[string]any{"io.modelcontextprotocol/protocolVersion": revision, "io.modelcontextprotocol/clientCapabilities": map[string]any{}},
		},
	})
	token := ""
	if c.Auth != nil && !c.Auth.Anonymous {
		token = ` -H "Authorization: Bearer $MCP_TOKEN"`
	}
	return fmt.Sprintf("curl -s %s%s \\\n  -H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream' \\\n  -H 'MCP-Protocol-Version: %s' -H 'Mcp-Method: tools/call' -H %s \\\n  -d %s",
		shellQuoted(cmp.Or(c.Resource(), unknownURL)), token, revision, shellQuoted("Mcp-Name: "+tool), shellQuoted(string(visible(message))))
}

// shellQuoted returns a text as one word of a POSIX shell.
func shellQuoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// runTrial makes the call and adds its outcome to the page.
func (c *Console) runTrial(r *http.Request, s *signin.Session, data *tryData, args []byte) {
	data.Ran, data.Actor = true, "admin:"+s.Name
	c.o.Log.Info("a tool is tried in the console", "name", s.Name, "tool", data.Tool.Name)
	began := c.o.Now()
	result, err := c.o.Trials.Try(r.Context(), data.Actor, data.Tool.Name, args)
	data.Elapsed = c.o.Now().Sub(began)
	if err != nil {
		data.Ran, data.Problem = false, err.Error()
		return
	}
	data.Result = result
	data.JSON = indented(result.Result)
	data.Cut = len(data.JSON) > maxShownResult
	data.JSON = text.Prefix(data.JSON, maxShownResult)
	var outcome struct{ IsError bool }
	data.Failed = json.Unmarshal(result.Result, &outcome) == nil && outcome.IsError
}

// consentTo returns the proof that a session was shown a call and its arguments: another call needs another one.
func consentTo(s *signin.Session, tool string, args []byte) string {
	var compact bytes.Buffer // browsers change line ends
	if json.Compact(&compact, args) == nil {
		args = compact.Bytes()
	}
	digest := sha256.Sum256(fmt.Appendf(nil, "%q %q %s", s.CSRF, tool, args))
	return hex.EncodeToString(digest[:])
}
