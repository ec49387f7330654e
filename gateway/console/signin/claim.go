package signin

import (
	"strings"

	"drawbridge/openapi/jsonscan"
)

// isPersonal reports whether a claim is one text about the person (OpenID Connect Core section 5.1), which may have spaces and is, but
// for sub, chosen by the person.
func isPersonal(name string) bool {
	switch name {
	case "sub", "name", "given_name", "family_name", "middle_name", "nickname", "preferred_username", "profile", "picture", "website", "email", "gender",
		"birthdate", "zoneinfo", "locale", "phone_number":
		return true
	}
	return false
}

// claimValues returns the values of a claim, which is a string with spaces or a list of strings. A name that begins with
// '/' is a JSON Pointer. A claim about the person has one value, and an e-mail address counts only if the provider has verified it.
func claimValues(claims map[string]any, name string) []string {
	if isPersonal(strings.TrimPrefix(name, "/")) {
		text, ok := claims[strings.TrimPrefix(name, "/")].(string)
		if !ok || strings.TrimPrefix(name, "/") == "email" && claims["email_verified"] != true {
			return nil
		}
		return []string{text}
	}
	var value any = claims
	path := []string{name}
	if strings.HasPrefix(name, "/") {
		path = jsonscan.Tokens(name)
	}
	for _, step := range path {
		object, _ := value.(map[string]any)
		value = object[step]
	}
	switch value := value.(type) {
	case string:
		return strings.Fields(value)
	case []any:
		var all []string
		for _, v := range value {
			if text, ok := v.(string); ok {
				all = append(all, text)
			}
		}
		return all
	}
	return nil
}
