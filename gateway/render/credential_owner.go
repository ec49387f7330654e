package render

import (
	"net/http"
	"strings"
)

// CredentialOwner is the party whose credentials a call carries, which has to act if the service refuses them. The zero
// value is a call without credentials.
type CredentialOwner struct {
	// Sent are the client's headers that carried the user's own credential, and Missing those that did not.
	Sent, Missing []string
	// Exchanged reports that the service got a token that was exchanged for the user's, and Identity that it got the user's
	// identity, signed by the gateway.
	Exchanged, Identity bool
	// Account reports that the service got a token for the user's own account there.
	Account bool
	// Gateway reports that the service got a credential of the gateway.
	Gateway bool
}

// gatewayOwnAdvice is the advice on a credential of the gateway beside that of the user.
const gatewayOwnAdvice = " If that does not help, the operator must look at the gateway's own."

// refused returns the advice on a response that refuses the credentials of a call (401), or their permissions (403).
func (o CredentialOwner) refused(status int) string {
	forbidden := status == http.StatusForbidden
	headers := strings.Join(o.Sent, " and ")
	switch {
	case len(o.Missing) > 0:
		text := "The client sent no " + strings.Join(o.Missing, " and no ") + ", where the user's credential for the service belongs; tell the user to set it in the MCP client."
		if o.Gateway && !forbidden {
			text += gatewayOwnAdvice
		}
		return text
	case len(o.Sent) > 0 && forbidden:
		return "The service does not allow this with the user's credential in " + headers + "; other arguments may be allowed, else the user needs more rights at the service."
	case len(o.Sent) > 0:
		text := "The service does not accept the user's credential in " + headers + "; tell the user to renew it in the MCP client."
		if o.Gateway {
			text += gatewayOwnAdvice
		}
		return text
	case o.Account && !forbidden:
		return "The service does not accept the user's login there any more; call again, and the user gets a link to log in at the service."
	case (o.Exchanged || o.Identity || o.Account) && forbidden:
		return "The service does not allow this user to do this; other arguments may be allowed, else the user needs more rights at the service."
	case o.Exchanged:
		return "The service does not accept the token that it gets for the user; tell the user to sign in again, and if that does not help, to ask the operator."
	case o.Identity:
		return "The service does not accept the user's identity as the gateway sends it; tell the user that the operator must look at it."
	case o.Gateway && forbidden:
		return "The service does not let the gateway do this; other arguments may be allowed, else the operator must help."
	case o.Gateway:
		return wrongCredential
	case forbidden:
		return "The service does not allow this, and gets no credential from the gateway; other arguments may be allowed, else the operator must help."
	}
	return "The service wants a credential, and the gateway has none for it; correct one in the arguments, else tell the user that the operator must configure it."
}
