package plan

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"drawbridge/gateway/source"
	"drawbridge/openapi"
	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/text"
)

// serverArgument is an argument that selects the value of a server variable. It is no part of the request: the server is selected before
// the other arguments are read.
type serverArgument struct {
	name, variable string
	allow          []string
	preset         string // the value of calls without the argument; "" if they are rejected
	selected       string // the value of the call; "" if its server is not selected yet
}

// serverArguments are those of an operation; none if all its calls have the same server, or claims select it.
type serverArguments []serverArgument

// newServerArguments returns the arguments of an operation that select its server. listed is the operation without them, whose arguments
// keep their names.
func newServerArguments(servers *source.Servers, op, listed *openapi.Operation) (all serverArguments) {
	if servers == nil {
		return nil
	}
	taken := listed.Names()
	for _, by := range servers.Arguments(op) {
		variable, _ := by.Variable()
		name := variable
		for n := 1; taken[name]; n++ {
			if name = "server_" + variable; n > 1 {
				name = fmt.Sprintf("server_%s_%d", variable, n)
			}
		}
		taken[name] = true
		all = append(all, serverArgument{name: name, variable: variable, allow: by.Allow, preset: by.Default})
	}
	return all
}

// listed returns an operation as callers see it with the arguments.
func (all serverArguments) listed(op *openapi.Operation) *openapi.Operation {
	for _, a := range all {
		op = a.listed(op)
	}
	return op
}

func (a *serverArgument) listed(op *openapi.Operation) *openapi.Operation {
	of := struct {
		Type        string   `json:"type"`
		Description string   `json:"description"`
		Enum        []string `json:"enum"`
		Default     string   `json:"default,omitempty"`
	}{"string", "Selects the server of the service that the call goes to.", a.allow, a.preset}
	schema, err := json.Marshal(of)
	if err != nil {
		panic(err) // texts can always be written
	}
	return op.WithArgument(a.name, schema, a.preset == "")
}

// values lists the values for an error.
func (a *serverArgument) values() string {
	var quoted []string
	for _, value := range a.allow {
		quoted = append(quoted, strconv.Quote(value))
	}
	if len(quoted) == 1 {
		return quoted[0]
	}
	return "one of " + text.List(quoted, maxListedValues)
}

// maxListedValues is the most values of an argument that an error lists.
const maxListedValues = 20

// take removes the arguments, and returns the values of its variables. The error is an *[openapi.ArgumentError].
func (all serverArguments) take(args json.RawMessage) (rest json.RawMessage, values map[string]string, err error) {
	if len(all) == 0 {
		return args, nil, nil
	}
	args = unwrapped(args)
	values = map[string]string{}
	var names []string
	var faults []openapi.Fault
	for _, a := range all {
		given := jsonscan.Lookup(args, a.name)
		value, ok := openapi.PlainText(given)
		absent := given == nil || jsonscan.KindOf(given) == jsonscan.Null
		switch {
		case absent && a.preset != "":
			value = a.preset
		case absent:
			faults = append(faults, openapi.Fault{Pointer: jsonscan.PointerTo(a.name), Message: "missing; it selects the server: expected " + a.values()})
		case !ok || !slices.Contains(a.allow, value):
			faults = append(faults, openapi.Fault{Pointer: jsonscan.PointerTo(a.name), Message: "expected " + a.values()})
		}
		values[a.variable], names = value, append(names, a.name)
	}
	if faults != nil {
		return args, nil, &openapi.ArgumentError{Faults: faults}
	}
	return withoutMembers(args, names), values, nil
}

// with returns the other arguments with these. Those that select no server yet are absent, unless they have a default.
func (all serverArguments) with(args json.RawMessage) json.RawMessage {
	if len(all) == 0 || len(args) > 0 && jsonscan.KindOf(args) != jsonscan.Object {
		return args
	}
	dst := append(make([]byte, 0, len(args)+len(all)*64), '{')
	for name, value := range jsonscan.Members(args) {
		dst = jsonscan.AppendMember(dst, string(name), value)
	}
	for _, a := range all {
		if value := cmp.Or(a.selected, a.preset); value != "" {
			dst = jsonscan.AppendMember(dst, a.name, jsonscan.AppendString(nil, value))
		}
	}
	return append(dst, '}')
}
