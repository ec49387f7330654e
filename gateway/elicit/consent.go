package elicit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"drawbridge/gateway/mcp"
	"drawbridge/openapi/jsonscan"
)

// Errors of [Confirm].
var (
	// ErrDeclined is returned if the user declined.
	ErrDeclined = errors.New("the user did not consent")
	// ErrUndecided is returned if the user was asked and did not decide.
	ErrUndecided = errors.New("the user did not decide")
)

// Call is a call that needs the user's consent.
type Call struct {
	Title string // of the tool, with its name
	// Method and Path are those of the operation, API the name of its API.
	Method, Path, API string
	// Steps are instead the operations of a call of several, each as "METHOD PATH of API".
	Steps []string
	// Args are the arguments as they will be sent.
	Args json.RawMessage
}

// Confirm asks the user to consent to a call. The error is nil if the user does; otherwise it is [ErrDeclined],
// [ErrUndecided], an [*mcp.ClientUnsupportedError] if the client can't ask, or one of the protocol, such as an
// [*mcp.InputRequired]. An answer counts for one call.
func Confirm(ctx context.Context, d *Dialogue, call *Call) error {
	answers, err := d.Ask(ctx, &Round{SingleUse: true, Requests: []mcp.InputRequest{{Key: "confirm", Kind: mcp.ElicitForm, Params: call.question()}}})
	if err != nil {
		return err
	}
	switch a := answers["confirm"]; {
	case a.Action == mcp.Declined, a.Action == mcp.Accepted && !consents(a.Value):
		return ErrDeclined
	case a.Action != mcp.Accepted:
		return ErrUndecided
	}
	return nil
}

// consents reports whether the box is ticked. The schema requires it, so a form without it is no consent: a client that
// accepts a form without showing or understanding it sends an empty one.
func consents(form json.RawMessage) bool {
	return string(jsonscan.Lookup(form, "go_ahead")) == "true"
}

// question returns the params of the request: the tool's title, the operation and the arguments. The caller's words
// follow the gateway's, so that they can't pass for them.
func (c *Call) question() []byte {
	what := fmt.Sprintf("It is %s %s of %s", c.Method, c.Path, c.API)
	if len(c.Steps) > 0 {
		what = "It makes several calls, among them " + strings.Join(c.Steps, ", ")
	}
	message := fmt.Sprintf("Allow %s? %s, with the arguments %s", c.Title, what, shownArguments(c.Args))
	dst := jsonscan.AppendString([]byte(`"message":`), message)
	return append(dst, `,"requestedSchema":{"type":"object","properties":{"go_ahead":{"type":"boolean","title":"Go ahead","default":false}},"required":["go_ahead"]}`...)
}
