package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"drawbridge/config"
	"drawbridge/openapi"
	"drawbridge/openapi/jsonscan"
)

// droppedArguments are names of arguments that are removed from calls.
//
// Some clients add arguments of their own to calls, such as toolCallId (pains row 121). Those that the configuration
// names are removed before anything else reads the call: validation, conditions, elicitation, and the handles that its
// continuation depends on. Other undeclared arguments count as absent once validation rejects them (pains rows 120 and
// 127). Callers see in _meta, and operators in the audit log, which arguments were dropped.
type droppedArguments []string

// codeDropArguments is the problem code of a configured name that is not dropped because an operation declares it.
const codeDropArguments = "drop-arguments"

// newDroppedArguments returns the configured names that an operation, as it is listed, doesn't declare. The others are
// reported. entry is the configuration entry of the API.
func newDroppedArguments(c *config.Config, api *config.API, entry string, listed *openapi.Operation, r reporter) droppedArguments {
	names, general := c.DroppedArguments(api)
	if len(names) == 0 {
		return nil
	}
	key := entry + ".drop_arguments"
	if general {
		key = "tools.drop_arguments"
	}
	declared, kept := listed.Names(), false
	for i, name := range names {
		if declared[name] {
			kept = true
			r.rejectAt(codeDropArguments, fmt.Sprintf("%s[%d]", key, i), fmt.Sprintf("%q is an argument that the operation declares, so it is not dropped", name))
		}
	}
	if !kept {
		return names // all tools share the slice
	}
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return declared[name] })
}

// drop removes the arguments that are dropped. It returns the others, and the sorted JSON Pointers of the dropped ones.
func (d droppedArguments) drop(args json.RawMessage) (kept json.RawMessage, dropped []string) {
	if len(d) == 0 {
		return args, nil
	}
	drops := func(name []byte) bool {
		return slices.ContainsFunc(d, func(other string) bool { return other == string(name) })
	}
	for name := range jsonscan.Members(args) {
		if drops(name) {
			dropped = append(dropped, jsonscan.PointerTo(string(name)))
		}
	}
	if dropped == nil {
		return args, nil
	}
	slices.Sort(dropped)
	return withoutMembers(args, d), dropped
}

// withoutMembers returns an object without some of its members; args itself if it is no object.
func withoutMembers(args json.RawMessage, names []string) json.RawMessage {
	if jsonscan.KindOf(args) != jsonscan.Object {
		return args
	}
	kept := append(make([]byte, 0, len(args)), '{')
	for name, value := range jsonscan.Members(args) {
		if !slices.ContainsFunc(names, func(other string) bool { return other == string(name) }) {
			kept = jsonscan.AppendMember(kept, string(name), value)
		}
	}
	return append(kept, '}')
}

// unwrapped returns the arguments as an object: some clients send it as a string that holds it.
func unwrapped(args json.RawMessage) json.RawMessage {
	if jsonscan.KindOf(args) == jsonscan.String {
		if held := jsonscan.Unquote(bytes.TrimSpace(args)); jsonscan.KindOf(held) == jsonscan.Object {
			if _, err := jsonscan.Scan(held, jsonscan.Options{Unique: true}); err == nil {
				return held
			}
		}
	}
	return args
}
