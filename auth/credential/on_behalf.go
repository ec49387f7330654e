package credential

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
)

// onBehalf is the part of a grant that is specific to OnBehalfOf: the caller's token is an assertion
// of a user, for the authorization server that issued it.
type onBehalf struct {
	issuer string
}

// newOnBehalf returns the exchange of OnBehalfOf. The scopes are the only target that is sent: Entra ID
// rejects requests with "resource".
func newOnBehalf(o Options, form url.Values) (*exchange, *onBehalf, error) {
	var problems []error
	if o.Subject == nil {
		problems = append(problems, errors.New("credential: on_behalf_of needs the subject"))
	}
	if o.OAuth.SubjectIssuer == "" {
		problems = append(problems, errors.New("credential: on_behalf_of needs the issuer of the callers' tokens"))
	}
	if len(o.OAuth.Scopes) == 0 {
		problems = append(problems, errors.New("credential: on_behalf_of needs a scope: it names the service"))
	}
	if len(o.OAuth.Audiences)+len(o.OAuth.Resources) > 0 {
		problems = append(problems, errors.New("credential: on_behalf_of takes neither audiences nor resources: its scopes name the service"))
	}
	form.Set("requested_token_use", "on_behalf_of")
	e := &exchange{
		subject: o.Subject, parameter: "assertion", audiences: slices.Clone(o.OAuth.Exchange.Accept), tokens: tokenCache{maxEntries: maxCallers},
	}
	return e, &onBehalf{issuer: o.OAuth.SubjectIssuer}, errors.Join(problems...)
}

// userClaims are the claims of a verified token that tell whether it has a user.
type userClaims struct {
	Issuer   string          `json:"iss"`
	Subject  string          `json:"sub"`
	Object   string          `json:"oid"`   // the user, or the service principal (Entra ID)
	Type     string          `json:"idtyp"` // "app" or "user" (Entra ID)
	Scopes   json.RawMessage `json:"scp"`
	Scope    json.RawMessage `json:"scope"`
	ClientID string          `json:"client_id"`
	Party    string          `json:"azp"`
	App      string          `json:"appid"` // azp of tokens of version 1 (Entra ID)
}

// refusal returns the reason that a caller's token is not sent to the authorization server, for the
// log and, unless it is the usual one, for the model; "" if it is sent.
// A token that a client got for itself has no user (RFC 9068 section 2.2: its sub is the client;
// Entra ID: its sub is the oid of the service principal, and it has roles instead of scp).
func (b *onBehalf) refusal(token string) (detail, advice string) {
	var c userClaims
	switch {
	case !claimsOf(token, &c):
		return "the caller's token is not a JWT", ""
	case c.Issuer != b.issuer:
		return "the caller's token is from another issuer than that of the credential", otherIssuerAdvice
	case c.Type != "" && c.Type != "user", c.Subject == "", c.Subject == c.ClientID, c.Subject == c.Party, c.Subject == c.App,
		c.Type == "" && c.Subject == c.Object, len(c.Scopes) == 0 && len(c.Scope) == 0:
		return "the caller's token is that of an application, without a user", ""
	}
	return "", ""
}

// Advice for the model about refusals that neither the caller's next login nor the operator can always repair.
const (
	otherIssuerAdvice = "The service knows the users of another identity provider than the one that the user has logged in with." +
		" Nothing was sent to the service. Repeating the call does not help: tell the user to log in to the gateway with the other provider."
	interactionAdvice = "The service wants more of the user's login than it has, such as a second factor or a managed device (conditional access)." +
		" Nothing was sent to the service. Repeating the call does not help: tell the user to sign in to the service itself once, or to log out of the MCP client" +
		" and in again with the second factor; if that does not help, the administrator of the directory decides."
	consentAdvice = "Nobody has agreed yet that the gateway acts for the user at the service. Nothing was sent to the service." +
		" Repeating the call does not help: tell the user to ask an administrator of the directory to consent to the gateway's permissions."
)

// refused completes the error for a refusal by the body of the response. Entra ID has one error code
// for tokens that have ended, consent that is missing and policies, and tells them apart by numbers
// (AADSTS…), which are no secrets. Any other server is understood by the standard error code.
func (*onBehalf) refused(e *TokenError, body []byte) {
	var answer struct {
		Codes    []int  `json:"error_codes"`
		Suberror string `json:"suberror"`
	}
	if json.Unmarshal(body, &answer) != nil {
		answer.Codes = nil // the error code decides
	}
	failure, advice := Refused, ""
	switch e.Code {
	case "invalid_grant", "invalid_token":
		if len(answer.Codes) == 0 {
			failure = SubjectRefused
		}
	case "interaction_required", "login_required":
		advice = interactionAdvice
	case "consent_required":
		advice = consentAdvice
	}
	if answer.Suberror == "consent_required" {
		advice = consentAdvice
	}
	for i, code := range answer.Codes {
		if i == 0 {
			e.detail = fmt.Sprintf("AADSTS%d", code)
		}
		switch code {
		case 50078, 50089, 50132, 50133, 50173, 70043, 70044, 500133: // the login behind the token has ended
			failure = SubjectRefused
		case 50072, 50074, 50076, 50079, 50158, 53000, 53001, 53002, 53003, 53004: // a second factor, or a policy
			advice = interactionAdvice
		case 65001, 65004, 90094:
			advice = consentAdvice
		}
	}
	if e.Failure = failure; advice != "" {
		e.Failure, e.advice = Refused, advice // another token of the same login would be refused, too
	}
}
