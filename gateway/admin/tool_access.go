package admin

import (
	"cmp"
	"strings"
)

// ToolAccess is what a call of a tool requires and how it reaches its service. Beside each value is
// the setting that determines it, as "file:line:col: key", "default: key" or "the document".
type ToolAccess struct {
	Token         bool       `json:"token"`  // a token is required
	Scopes        [][]string `json:"scopes"` // sets of scopes, of which the caller's token must have one
	ScopesFrom    string     `json:"scopes_from"`
	Condition     string     `json:"condition"` // an expression, or "none"
	ConditionFrom string     `json:"condition_from,omitempty"`
	Confirm       bool       `json:"confirm"` // a call waits for the user's consent
	ConfirmFrom   string     `json:"confirm_from"`
	// Annotations are what clients are told about a call in words, such as "read-only, idempotent". AnnotationsFrom is "" if they follow
	// from the method.
	Annotations     string `json:"annotations"`
	AnnotationsFrom string `json:"annotations_from,omitempty"`

	BaseURL        string `json:"base_url,omitempty"` // "" if calls can't be made
	BaseURLFrom    string `json:"base_url_from,omitempty"`
	Credential     string `json:"credential"` // kinds of the credentials that are added, or "none"
	CredentialFrom string `json:"credential_from,omitempty"`

	Failure     string `json:"failure,omitempty"` // the expression by which a successful response reports a failure; "" if the status alone decides
	FailureFrom string `json:"failure_from,omitempty"`
}

// Lines formats it for people, one item per line, equal for tools with the same access.
func (a *ToolAccess) Lines() []string {
	line := func(name, value, from string) string {
		if from == "" {
			return name + ": " + value
		}
		return name + ": " + value + " (" + from + ")"
	}
	scopes := "none, no token is checked"
	sets := make([]string, len(a.Scopes))
	for i, set := range a.Scopes {
		sets[i] = cmp.Or(strings.Join(set, " "), "none, any token of the issuers")
	}
	switch {
	case len(sets) > 0:
		scopes = strings.Join(sets, ", or ")
	case a.Token:
		scopes = "none that a token can have"
	}
	confirm := "no"
	if a.Confirm {
		confirm = "yes"
	}
	lines := []string{
		line("scopes", scopes, a.ScopesFrom), line("condition", a.Condition, a.ConditionFrom), line("confirmation", confirm, a.ConfirmFrom),
	}
	if a.AnnotationsFrom != "" {
		lines = append(lines, line("annotations", a.Annotations, a.AnnotationsFrom))
	}
	lines = append(lines,
		line("base URL", cmp.Or(a.BaseURL, "none, calls can't be made"), a.BaseURLFrom), line("credential", a.Credential, a.CredentialFrom))
	if a.Failure != "" {
		lines = append(lines, line("failure with status 2xx", a.Failure, a.FailureFrom))
	}
	return lines
}
