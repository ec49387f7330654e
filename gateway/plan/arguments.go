package plan

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"drawbridge/auth"
	"drawbridge/auth/credential"
	"drawbridge/config"
	"drawbridge/gateway/redact"
	"drawbridge/openapi"
	"drawbridge/openapi/jsonscan"
)

// Arguments are the arguments of an operation as rules have changed them: callers see and give others than the document
// declares, and the gateway adds values. A nil Arguments changes nothing. It is immutable.
type Arguments struct {
	all, given *openapi.Operation
	names      map[string]string // names that callers see by those of the document, where they differ
	hidden     []string          // arguments that callers don't give, with or without a value
	values     []argumentValue   // sorted by name
	filled     []string          // the names of the document of arguments with a value
}

// with returns the arguments for other forms of the same operations.
func (a *Arguments) with(all, given *openapi.Operation) *Arguments {
	if a == nil || a.all == all && a.given == given {
		return a
	}
	other := *a
	other.all, other.given = all, given
	return &other
}

// argumentValue is the value of an argument that the gateway adds.
type argumentValue struct {
	name   string          // that callers would see
	text   json.RawMessage // nil for a claim
	claim  string          // of the caller's token; "" for none
	secret bool            // it is shown to nobody
	preset bool            // a call may have another value
}

// Complete returns the arguments that the request is built of: those of a call that [Plan.CallerOperation] has accepted, with
// the fixed values and the defaults. The error is a *[credential.ClaimError] or an *[openapi.ArgumentError].
func (a *Arguments) Complete(args json.RawMessage, caller *auth.Principal) (json.RawMessage, error) {
	return a.complete(args, caller.Claim)
}

// previewedClaim stands for the value of a claim where there is no caller.
const previewedClaim = "CLAIM"

// Preview is Complete for a request that is not sent, with a placeholder for claims.
func (a *Arguments) Preview(args json.RawMessage) (json.RawMessage, error) {
	return a.complete(args, func(string) json.RawMessage { return json.RawMessage(`"` + previewedClaim + `"`) })
}

func (a *Arguments) complete(args json.RawMessage, claim func(name string) json.RawMessage) (json.RawMessage, error) {
	if a == nil || len(a.values) == 0 {
		return args, nil
	}
	own := map[string]json.RawMessage{}
	for _, v := range a.values {
		if v.preset && jsonscan.Lookup(args, v.name) != nil {
			continue
		}
		if own[v.name] = v.text; v.claim != "" {
			value := claim(v.claim)
			if value == nil || isNothing(value) {
				return nil, &credential.ClaimError{Claim: v.claim, Unfit: value != nil}
			}
			own[v.name] = value
		}
	}
	checked, _, err := a.all.Check(withMembers(args, own))
	if err != nil && a.spellOut(own, err) {
		checked, _, err = a.all.Check(withMembers(args, own))
	}
	for _, v := range a.values {
		if v.claim != "" && (err != nil && concerns(err, v.name) || err == nil && jsonscan.Lookup(checked, v.name) == nil) {
			return nil, &credential.ClaimError{Claim: v.claim, Unfit: true}
		}
	}
	if err != nil {
		return nil, err
	}
	return checked, nil
}

// isNothing reports whether a value is null or empty. Such a value may not be sent at all, and a request without it may reach
// what the claim keeps apart.
func isNothing(value json.RawMessage) bool {
	switch jsonscan.KindOf(value) {
	case jsonscan.Null:
		return true
	case jsonscan.String:
		return len(jsonscan.Unquote(value)) == 0
	case jsonscan.Array:
		for range jsonscan.Elements(value) {
			return false
		}
		return true
	case jsonscan.Object:
		for range jsonscan.Members(value) {
			return false
		}
		return true
	default:
		return false
	}
}

// spellOut makes strings of the numbers and booleans of claims that are faulty as they are, and reports whether there are any:
// authorization servers differ in how they write an id.
func (a *Arguments) spellOut(own map[string]json.RawMessage, err error) (changed bool) {
	for _, v := range a.values {
		kind := jsonscan.KindOf(own[v.name])
		if v.claim != "" && (kind == jsonscan.Number || kind == jsonscan.Bool) && concerns(err, v.name) {
			own[v.name], changed = jsonscan.AppendString(nil, string(own[v.name])), true
		}
	}
	return changed
}

// concerns reports whether an error has a fault of an argument.
func concerns(err error, argument string) bool {
	var bad *openapi.ArgumentError
	return errors.As(err, &bad) && slices.ContainsFunc(bad.Faults, func(f openapi.Fault) bool { return isBelow(f.Pointer, argument) })
}

// Adopt is Complete for arguments with the names of the document, which no caller has given: fixed values take the place
// of those that they have.
func (a *Arguments) Adopt(args json.RawMessage, caller *auth.Principal) (json.RawMessage, error) {
	if a == nil {
		return args, nil
	}
	return a.Complete(a.Given(a.shown(args)), caller)
}

// Agrees reports whether arguments with the names of the document have no other values than the fixed ones.
func (a *Arguments) Agrees(args json.RawMessage, caller *auth.Principal) bool {
	if a == nil {
		return true
	}
	shown := a.shown(args)
	return !slices.ContainsFunc(a.values, func(v argumentValue) bool {
		given, fixed := jsonscan.Lookup(shown, v.name), v.text
		if v.claim != "" {
			fixed = caller.Claim(v.claim)
		}
		return !v.preset && given != nil && !sameValue(given, fixed)
	})
}

// sameValue reports whether two values are written alike in a URL, where a number is a string.
func sameValue(a, b json.RawMessage) bool {
	text, plain := openapi.PlainText(a)
	other, alsoPlain := openapi.PlainText(b)
	if plain && alsoPlain {
		return text == other
	}
	return string(jsonscan.AppendCanonical(nil, a)) == string(jsonscan.AppendCanonical(nil, b))
}

// Given returns arguments without those that callers don't give.
func (a *Arguments) Given(args json.RawMessage) json.RawMessage {
	if a == nil || len(a.hidden) == 0 {
		return args
	}
	return withoutMembers(args, a.hidden)
}

// Shown returns arguments as users, operators and the audit log may see them: without secrets.
func (a *Arguments) Shown(args json.RawMessage) json.RawMessage {
	if a == nil {
		return args
	}
	secrets := map[string]json.RawMessage{}
	for _, v := range a.values {
		if v.secret && jsonscan.Lookup(args, v.name) != nil {
			secrets[v.name] = json.RawMessage(`"` + redact.Placeholder + `"`)
		}
	}
	if len(secrets) == 0 {
		return args
	}
	return withMembers(args, secrets)
}

// UsesClaims reports whether the values depend on the caller.
func (a *Arguments) UsesClaims() bool {
	return a != nil && slices.ContainsFunc(a.values, func(v argumentValue) bool { return v.claim != "" })
}

// Fixes reports whether callers can't give some of the arguments.
func (a *Arguments) Fixes() bool { return a != nil && len(a.hidden) > 0 }

// shown returns arguments under the names that callers see.
func (a *Arguments) shown(args json.RawMessage) json.RawMessage {
	if len(a.names) == 0 || jsonscan.KindOf(args) != jsonscan.Object {
		return args
	}
	dst := []byte{'{'}
	for name, value := range jsonscan.Members(args) {
		dst = jsonscan.AppendMember(dst, cmp.Or(a.names[string(name)], string(name)), value)
	}
	return append(dst, '}')
}

// withMembers returns an object with other values of some members, which come last, sorted by name.
func withMembers(object json.RawMessage, values map[string]json.RawMessage) json.RawMessage {
	dst := []byte{'{'}
	if jsonscan.KindOf(object) == jsonscan.Object {
		for name, value := range jsonscan.Members(object) {
			if _, replaced := values[string(name)]; !replaced {
				dst = jsonscan.AppendMember(dst, string(name), value)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		dst = jsonscan.AppendMember(dst, name, values[name])
	}
	return append(dst, '}')
}

// isBelow reports whether a JSON Pointer leads to an argument, or into it.
func isBelow(pointer, argument string) bool {
	rest, ok := strings.CutPrefix(pointer, jsonscan.PointerTo(argument))
	return ok && (rest == "" || rest[0] == '/')
}

// argumentSecrets returns the secrets among the values of arguments.
func argumentSecrets(arguments map[string]*config.Argument) (secrets []config.Secret) {
	for _, name := range slices.Sorted(maps.Keys(arguments)) {
		if a := arguments[name]; !a.Secret.IsZero() {
			secrets = append(secrets, a.Secret)
		}
	}
	return secrets
}
