package console

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"drawbridge/gateway/admin"
	"drawbridge/gateway/call"
	"drawbridge/gateway/console/signin"
	"drawbridge/openapi/text"
)

// Trials calls tools for operators: with the credential that the API has itself, and with no user's identity.
type Trials interface {
	// Trial describes a tool; false if there is none of that name.
	Trial(tool string) (TrialTool, bool)
	// Try calls a tool, which the operator has confirmed if it needs that. The call and its audit record name the actor. The
	// error says why no call was made.
	Try(ctx context.Context, actor, tool string, args json.RawMessage) (TrialResult, error)
}

// TrialTool is a tool that an operator may try.
type TrialTool struct {
	Name, Title, API string
	Method, Path     string          // of its operation
	Input            json.RawMessage // schema of its arguments
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

// tryIndexData is what the page on which an operator names a tool shows.
type tryIndexData struct {
	Unknown string // the tool that was named and does not exist
}

// tryData is what the page Try shows.
type tryData struct {
	Tool      TrialTool
	Fields    []tryField
	Arguments string // JSON
	Problem   string // why the arguments can't be used, or no call was made
	Consent   string // proof of what is confirmed, if the call waits for the confirmation
	Ran       bool
	Actor     string
	Result    TrialResult
	JSON      string // the MCP result, indented
	Cut       bool   // JSON is only its beginning
	Failed    bool   // the result is an error
	Elapsed   time.Duration
}

// tryIndex serves the page on which an operator names a tool.
func (c *Console) tryIndex(w http.ResponseWriter, r *http.Request) {
	tool := strings.TrimSpace(r.URL.Query().Get("tool"))
	if tool == "" {
		c.render(w, r, tryIndexData{})
		return
	}
	if _, ok := c.o.Trials.Trial(tool); !ok {
		c.renderStatus(w, r, http.StatusNotFound, tryIndexData{tool})
		return
	}
	http.Redirect(w, r, tryURL(tool), http.StatusSeeOther)
}

// tryPage serves the form of a tool.
func (c *Console) tryPage(w http.ResponseWriter, r *http.Request) {
	tool, ok := c.o.Trials.Trial(r.PathValue("tool"))
	if !ok {
		c.fail(w, r, http.StatusNotFound, "There is no such tool.")
		return
	}
	c.render(w, r, tryData{Tool: tool, Fields: newTryForm(tool.Input).fill(nil), Arguments: "{}"})
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
	case tool.Confirm && r.PostFormValue("consent") != consentTo(session, tool.Name, args):
		data.Consent = consentTo(session, tool.Name, args)
	default:
		_ = http.NewResponseController(w).SetWriteDeadline(time.Time{}) // the tool has its own timeout
		c.runTrial(r, session, &data, args)
		admin.ExtendDeadline(w)
	}
	c.render(w, r, data)
}

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
