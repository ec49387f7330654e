package plan

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"drawbridge/openapi"
	"drawbridge/openapi/jsonschema"
)

// A rule fixes an argument, such as the tenant in a path. A member of the body with the same name is another value, which the service may
// prefer, and callers give it as they like.

// maxMemberDepth is how deep members of the body are looked for.
const maxMemberDepth = 4

// checkFreeMember reports a member of the body that has the name of an argument that callers can't give. A condition that names the body
// is taken for an answer to it.
func (c *argumentCompiler) checkFreeMember(d openapi.Declared, key string) {
	if c.condition != nil {
		for _, name := range c.condition.Arguments() {
			if name == bodyArgument {
				return
			}
		}
	}
	for _, other := range c.operation.Declares() {
		if other.Name != bodyArgument || other.Name == d.Name {
			continue
		}
		path := memberNamed(other.Schema, d.Name, maxMemberDepth)
		if path == nil {
			return
		}
		place := "args." + bodyArgument + "." + strings.Join(path, ".")
		c.report.doubtAt(codeArguments, key, fmt.Sprintf("the body of the operation has a member with that name, %s, which callers can still set; if it must not have"+
			" another value, write in the rule: condition: %s", strings.TrimPrefix(place, "args."), yamlQuoted(equalIfGiven(path, d.Name))))
		return
	}
}

// yamlQuoted returns a text as a string of YAML.
func yamlQuoted(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// bodyArgument is the argument that has the body of a request.
const bodyArgument = "body"

// equalIfGiven returns the condition that a member of the body, if it is given, equals an argument.
func equalIfGiven(path []string, argument string) string {
	var b strings.Builder
	at := "args"
	for _, name := range append([]string{bodyArgument}, path...) {
		next := memberOf(at, name)
		if strings.HasSuffix(next, "]") { // has takes identifiers alone
			fmt.Fprintf(&b, "!(%q in %s) || ", name, at)
		} else {
			fmt.Fprintf(&b, "!has(%s) || ", next)
		}
		at = next
	}
	return b.String() + at + " == " + memberOf("args", argument)
}

// memberOf returns the expression for a member of a map in CEL.
func memberOf(of, name string) string {
	if identifier.MatchString(name) {
		return of + "." + name
	}
	return fmt.Sprintf("%s[%q]", of, name)
}

var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// memberNamed returns the path of the first member with a name in a schema of objects, or nil.
func memberNamed(schema *jsonschema.Schema, name string, depth int) []string {
	if depth == 0 {
		return nil
	}
	members := schema.Members()
	if slices.ContainsFunc(members, func(m jsonschema.Member) bool { return m.Name == name }) {
		return []string{name}
	}
	for _, m := range members {
		if path := memberNamed(m.Schema, name, depth-1); path != nil {
			return append([]string{m.Name}, path...)
		}
	}
	return nil
}
