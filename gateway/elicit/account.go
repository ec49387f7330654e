package elicit

import (
	"context"
	"fmt"

	"drawbridge/gateway/mcp"
	"drawbridge/openapi/jsonscan"
)

// accountKey is the key of the question of [AskAccount].
const accountKey = "account"

// AskAccount asks the user to open a link, at which an account at the service of an API is connected, and returns what the user has answered
// when the call goes on: [mcp.Accepted] means that the user has agreed to open it, and not that the account is there. Each link is another
// one, so a question with an earlier link counts as this one. The error is an [*mcp.ClientUnsupportedError] if the client can't show links,
// or one of the protocol, such as an [*mcp.InputRequired].
func AskAccount(ctx context.Context, d *Dialogue, api, title, link string) (mcp.Action, error) {
	if d.Progress.Open[accountKey] != "" {
		if result, ok := d.Input.Response(accountKey); ok {
			response, valid := mcp.ParseInputResponse(mcp.ElicitURL, result)
			if result == nil || !valid {
				response.Action = mcp.Cancelled
			}
			if d.Accept != nil {
				if err := d.Accept(ctx); err != nil {
					return 0, err
				}
			}
			return response.Action, nil
		}
	}
	message := fmt.Sprintf("%s of %s uses your own account there. Sign in to connect it, and come back.", title, api)
	params := jsonscan.AppendString([]byte(`"mode":"url","message":`), message)
	params = jsonscan.AppendString(append(params, `,"url":`...), link)
	answers, err := d.Ask(ctx, &Round{Requests: []mcp.InputRequest{{Key: accountKey, Kind: mcp.ElicitURL, Params: params}}})
	return answers[accountKey].Action, err
}
