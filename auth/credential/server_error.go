package credential

import "fmt"

// ServerError reports that no server is selected for a call, because the caller's token lacks the claim that selects it, or has it
// with a value that the configuration does not list. Nothing was sent to any service.
type ServerError struct {
	// Claim is the name of the claim.
	Claim string
	// Given reports whether the token has the claim. Its value is not shown: it is not trusted.
	Given bool
}

// Error implements error.
func (e *ServerError) Error() string {
	if e.Given {
		return fmt.Sprintf("the claim %q of the caller's token selects no server: its value is not in the list of the configuration", e.Claim)
	}
	return fmt.Sprintf("the caller has no claim %q, which selects the server, and the configuration has no default", e.Claim)
}

// ToolMessage returns the text for the model.
func (e *ServerError) ToolMessage() string {
	reason := "This caller does not have the claim."
	if e.Given {
		reason = "No server is configured for its value."
	}
	return fmt.Sprintf("The claim %q of the access token selects the server of this call. %s Nothing was sent to the service."+
		" Other arguments do not help: tell the user that this account can't use the tool.", e.Claim, reason)
}
