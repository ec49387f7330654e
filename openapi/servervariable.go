package openapi

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"drawbridge/openapi/tree"
)

// variableError is the error of a variable of a server URL without a usable value. The configuration can give it one.
type variableError struct {
	text        string
	placeholder bool // it is not a variable of the document, but a placeholder that a build should have replaced
}

func (e *variableError) Error() string { return e.text }

// expand replaces the variables of a server URL, in one pass: by the value of the configuration, or else by the
// default, or else by the first of the enum (S7). empty is the name of the first variable with an empty value; "" if
// there is none.
func (s *servers) expand(candidate server) (text, empty string, err error) {
	var b strings.Builder
	rest := candidate.url
	for {
		before, after, found := strings.Cut(rest, "{")
		b.WriteString(before)
		if !found {
			break
		}
		if strings.HasSuffix(before, "$") || strings.HasSuffix(before, "#") {
			return "", "", &variableError{text: fmt.Sprintf("the server URL %q holds the placeholder %.100q, which nothing has replaced", candidate.url,
				placeholder(candidate.url, func(string) bool { return false })), placeholder: true}
		}
		name, tail, found := strings.Cut(after, "}")
		if !found {
			return "", "", fmt.Errorf("the server URL %q has an unclosed variable", candidate.url)
		}
		v := candidate.variables.Get(name)
		value, given := s.values[name]
		switch enum := v.Get("enum"); {
		case given && enum.Len() > 0 && !hasText(enum, value):
			return "", "", &variableError{text: fmt.Sprintf("the value %q of the variable %q of the server URL %q is none of %s",
				value, name, candidate.url, quoted(enum))}
		case given:
			if c := forbidden(value, b.String(), tail); c != "" {
				return "", "", &variableError{text: fmt.Sprintf("the value %q of the variable %q of the server URL %q holds %s, which can't stand there",
					value, name, candidate.url, c)}
			}
		default:
			value = v.Get("default").Text()
			if enum.Len() > 0 && !hasText(enum, value) {
				value = enum.At(0).Text()
			}
			if value == "" && v.Get("default") == nil {
				return "", "", &variableError{text: fmt.Sprintf("the variable %q of the server URL %q has no default", name, candidate.url)}
			}
		}
		if value == "" && empty == "" {
			empty = name
		}
		b.WriteString(value)
		rest = tail
	}
	return b.String(), empty, nil
}

// forbidden returns the text in a value of the configuration that would change the rest of the URL: before is the URL
// up to the variable, after the rest. A variable that begins the URL may be a whole URL. A default of the document is
// not checked: its author could write the same without a variable.
func forbidden(value, before, after string) string {
	not := `?#\`
	scheme, rest, absolute := strings.Cut(before, "://")
	switch {
	case before == "" && !strings.HasPrefix(after, "://"):
		return ""
	case before == "" || absolute && scheme != "" && !strings.Contains(rest, "/"):
		not = `/@?#\` // scheme, host or port
	}
	for _, r := range value {
		if strings.ContainsRune(not, r) || r <= ' ' || r == 0x7f {
			return fmt.Sprintf("%q", string(r))
		}
	}
	for segment := range strings.SplitSeq(value, "/") {
		if segment == "." || segment == ".." {
			return fmt.Sprintf("the path segment %q", segment)
		}
	}
	return ""
}

// checkVariables compares the values of the configuration with the document.
func (c *compiler) checkVariables(operations []found) error {
	if len(c.choices) == 0 {
		return c.servers.checkVariables(c.set.Root(), operations)
	}
	for _, s := range c.choices {
		if err := s.checkVariables(c.set.Root(), operations); err != nil {
			return err
		}
	}
	return nil
}

// checkVariables compares the values of the configuration with the variables of all servers: a value that no server
// accepts is an error, a name that no server has is a problem.
func (s *servers) checkVariables(root *tree.Node, operations []found) error {
	if len(s.values) == 0 || s.base != nil {
		return nil
	}
	variables := make(map[string][]*tree.Node)
	seen := make(map[*tree.Node]bool)
	add := func(list *tree.Node) {
		if list == nil || seen[list] {
			return
		}
		seen[list] = true
		for _, server := range list.Items() {
			for name, v := range server.Get("variables").Members() {
				variables[name] = append(variables[name], v)
			}
			for name := range templateVariables(server.Get("url").Text()) {
				if server.Get("variables").Get(name) == nil {
					variables[name] = append(variables[name], nil)
				}
			}
		}
	}
	add(root.Get("servers"))
	for _, f := range operations {
		add(f.item.Get("servers"))
		add(f.node.Get("servers"))
	}
	for _, name := range slices.Sorted(maps.Keys(s.values)) {
		value := s.values[name]
		takes := func(v *tree.Node) bool { enum := v.Get("enum"); return enum.Len() == 0 || hasText(enum, value) }
		switch all := variables[name]; {
		case len(all) == 0:
			known := slices.Sorted(maps.Keys(variables))
			has := "they have none"
			if len(known) > 0 {
				has = "they have " + quotedList(known)
			}
			if _, ok := s.selected[name]; ok {
				return fmt.Errorf("%s: server_variables selects %q by a claim, which is no variable of the document's servers; %s", root.Position(), name, has)
			}
			s.problems.at(root, codeServerVariable, "server_variables names %q, which is no variable of the document's servers; %s", name, has)
		case !slices.ContainsFunc(all, takes):
			return fmt.Errorf("%s: server_variables gives the variable %q the value %q; the document allows %s",
				all[0].Position(), name, value, quoted(all[0].Get("enum")))
		}
	}
	return nil
}

// templateVariables yields the names in braces.
func templateVariables(url string) map[string]struct{} {
	names := make(map[string]struct{})
	for {
		_, after, found := strings.Cut(url, "{")
		if !found {
			return names
		}
		name, tail, closed := strings.Cut(after, "}")
		if !closed {
			return names
		}
		names[name], url = struct{}{}, tail
	}
}

// quoted lists the texts of an enum, the first ones of a long one.
func quoted(enum *tree.Node) string {
	var all []string
	for _, n := range enum.Items() {
		all = append(all, n.Text())
	}
	return quotedList(all)
}

func quotedList(all []string) string {
	const most = 20
	var b strings.Builder
	for i, text := range all[:min(len(all), most)] {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%.80q", text)
	}
	if len(all) > most {
		fmt.Fprintf(&b, " and %d more", len(all)-most)
	}
	return cmp.Or(b.String(), "nothing")
}

func hasText(list *tree.Node, text string) bool {
	for _, n := range list.Items() {
		if n.Text() == text {
			return true
		}
	}
	return false
}
