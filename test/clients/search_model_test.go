package clients

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// filing is what a user asks for: an issue with a title in a repository.
var filing = regexp.MustCompile(`\AFile an issue in ([^/]+)/([^:]+): (.+)\z`)

// fileIssue is a script: search for a tool, read its signature, call it by the tool that its hit says, and say the number of
// the issue. The model knows no tools but those in the request, and neither the name nor the arguments of the one that it finds.
func fileIssue(request *chatRequest) (chatMessage, error) {
	var offered, answers []string
	for _, tool := range request.Tools {
		offered = append(offered, tool.Function.Name)
	}
	if !slices.Equal(offered, searchTools) {
		return chatMessage{}, fmt.Errorf("the tools are %q", offered)
	}
	for _, m := range request.Messages {
		if m.Role == "tool" {
			answers = append(answers, m.Content)
		}
	}
	asked := filing.FindStringSubmatch(request.Messages[0].Content)
	if asked == nil {
		return chatMessage{}, fmt.Errorf("the user asks for something else: %q", request.Messages[0].Content)
	}
	switch len(answers) {
	case 0:
		return request.call(0, "search_tools", map[string]any{"query": "create an issue"})
	case 1:
		return request.callFound(answers[0], map[string]string{"owner": asked[1], "repo": asked[2], "title": asked[3]})
	default:
		var answer struct{ Number int }
		if err := json.Unmarshal([]byte(answers[1]), &answer); err != nil || answer.Number == 0 {
			return chatMessage{}, fmt.Errorf("the answer has no number: %q", answers[1])
		}
		return chatMessage{Role: "assistant", Content: fmt.Sprintf("Issue #%d is filed.", answer.Number)}, nil
	}
}

// callFound calls the first tool that search_tools has found, with the arguments that the model knows.
func (r *chatRequest) callFound(found string, known map[string]string) (chatMessage, error) {
	signature, rest, _ := strings.Cut(found, "\n")
	name, list, ok := strings.Cut(signature, "(")
	if !ok {
		return chatMessage{}, fmt.Errorf("the answer does not begin with a signature: %q", found)
	}
	args, err := requiredArguments(list, known)
	if err != nil {
		return chatMessage{}, fmt.Errorf("%w: %s", err, signature)
	}
	by := "call_tool"
	if strings.HasPrefix(rest, "  read-only: ") {
		by = "read_tool"
	}
	return r.call(1, by, map[string]any{"name": name, "arguments": args})
}

// call calls a function, if its parameters take the arguments.
func (r *chatRequest) call(turn int, name string, args map[string]any) (chatMessage, error) {
	i := slices.IndexFunc(r.Tools, func(tool chatTool) bool { return tool.Function.Name == name })
	if i < 0 {
		return chatMessage{}, fmt.Errorf("there is no function %q", name)
	}
	var parameters struct {
		Properties map[string]json.RawMessage
		Required   []string
	}
	if err := json.Unmarshal(r.Tools[i].Function.Parameters, &parameters); err != nil {
		return chatMessage{}, fmt.Errorf("the parameters of %s: %w", name, err)
	}
	for _, required := range parameters.Required {
		if args[required] == nil {
			return chatMessage{}, fmt.Errorf("%s needs %q", name, required)
		}
	}
	for arg := range args {
		if parameters.Properties[arg] == nil {
			return chatMessage{}, fmt.Errorf("%s takes no %q", name, arg)
		}
	}
	return callFunction(turn, name, args)
}

// requiredArguments returns the required arguments of a signature, which begins after its bracket, with the values that are
// known by their names.
func requiredArguments(signature string, known map[string]string) (map[string]any, error) {
	list, err := members(signature)
	if err != nil {
		return nil, err
	}
	args := map[string]any{}
	for _, member := range list {
		name, kind, _ := strings.Cut(member, ": ")
		if strings.HasSuffix(name, "?") || strings.HasPrefix(name, "…") {
			continue
		}
		if inner, ok := strings.CutPrefix(kind, "{"); ok {
			if args[name], err = requiredArguments(inner, known); err != nil {
				return nil, err
			}
			continue
		}
		value, ok := known[name]
		if !ok || !slices.Contains(strings.Split(kind, "|"), "string") {
			return nil, fmt.Errorf("no value of the type %q is known for %q", kind, name)
		}
		args[name] = value
	}
	return args, nil
}

// members splits the members of a signature at their commas, up to the bracket that closes it.
func members(signature string) (list []string, err error) {
	depth, start, quoted := 0, 0, false
	for i := 0; i < len(signature); i++ {
		c := signature[i]
		switch {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case strings.IndexByte("({[", c) >= 0:
			depth++
		case strings.IndexByte(")}]", c) >= 0 && depth > 0:
			depth--
		case depth == 0 && strings.IndexByte(",)}", c) >= 0:
			if member := strings.TrimSpace(signature[start:i]); member != "" {
				list = append(list, member)
			}
			if start = i + 1; c != ',' {
				return list, nil
			}
		}
	}
	return nil, errors.New("the signature has no end")
}
