package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v4"
	"go.yaml.in/yaml/v4/plugin/loaderlimits"

	"drawbridge/openapi/otherformat"
	"drawbridge/openapi/text"
)

// parse returns the root node of a YAML file, or nil after reporting the reason.
func (l *loader) parse(data []byte) *yaml.Node {
	text := bytes.TrimSpace(data)
	switch {
	case len(data) > maxFile:
		l.add(Error, position{}, "", "is larger than 1 MiB and not an OpenAPI document")
		return nil
	case otherformat.Describe(text) != "":
		l.add(Error, position{1, 1}, "", "is neither a configuration file nor an OpenAPI document, but %s", otherformat.Describe(text))
		return nil
	case bytes.HasPrefix(text, []byte("<")):
		l.add(Error, position{1, 1}, "", "is a page of HTML or XML, not a configuration file or OpenAPI document")
		return nil
	}
	doc, ok := l.parseYAML(data)
	switch {
	case !ok:
	case doc == nil || doc.ShortTag() == "!!null":
		l.add(Error, position{1, 1}, "", "is empty; the least it needs is a list of OpenAPI documents, such as %q", example)
	case doc.Kind == yaml.ScalarNode:
		l.add(Error, positionOf(doc), "", "expected a list of OpenAPI documents or a mapping, got a string; "+
			"a list of one is %q", example) // not what it is: the file may be a secret
	default:
		return doc
	}
	return nil
}

// parseYAML returns the root node of the only YAML document in data, nil if there is none; false after reporting the reason.
func (l *loader) parseYAML(data []byte) (*yaml.Node, bool) {
	doc, second, err := documents(data)
	var syntax *yaml.LoadError
	switch {
	case errors.As(err, &syntax) && syntax.Mark.Line > 0:
		l.add(Error, position{syntax.Mark.Line, max(syntax.Mark.Column, 1)}, "", "is not valid YAML: %s%s",
			syntax.Message, cmp.Or(cutHint(data), tabHint(data, syntax.Mark.Line), flowHint(data, syntax.Mark.Line, syntax.Mark.Column), syntaxHint(syntax.Message)))
	case err != nil:
		l.add(Error, position{}, "", "is not valid YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
	case second != nil:
		l.add(Error, positionOf(second), "", "begins a second YAML document (---); only one is read")
	default:
		return doc, true
	}
	return nil, false
}

// example is the shortest configuration, for messages.
const example = "- https://orders.internal/openapi.json"

// documents returns the root nodes of the first and the second YAML document in data; nil for a missing one.
func documents(data []byte) (first, second *yaml.Node, err error) {
	loader, err := yaml.NewLoader(bytes.NewReader(data), yaml.WithPlugin(loaderlimits.New(
		loaderlimits.DepthFunc(func(depth int, _ *loaderlimits.DepthContext) error {
			if depth > maxDepth {
				return fmt.Errorf("nested more than %d levels deep", maxDepth)
			}
			return nil
		}))))
	if err != nil {
		return nil, nil, err
	}
	next := func() (*yaml.Node, error) {
		var doc yaml.Node
		if err := loader.Load(&doc); err != nil || len(doc.Content) == 0 {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return nil, err
		}
		return doc.Content[0], nil
	}
	if first, err = next(); err != nil || first == nil {
		return nil, nil, err
	}
	second, err = next()
	return first, second, err
}

// cutHint recognizes a file that was cut off inside an escape, of which the parser's message only says that digits are missing.
func cutHint(data []byte) string {
	if escape := text.InEscape(data); escape != "" {
		return fmt.Sprintf("; the file ends inside the escape %s, so it was cut off", escape)
	}
	return ""
}

// tabHint names the most frequent cause of a syntax error that the parser's message does not name.
func tabHint(data []byte, line int) string {
	for text := range bytes.Lines(data) {
		if line--; line == 0 {
			if indent := text[:len(text)-len(bytes.TrimLeft(text, " \t"))]; bytes.Contains(indent, []byte("\t")) {
				return "; indent with spaces, not with tabs"
			}
			break
		}
	}
	return ""
}

// flowHint explains a syntax error at the brace of an unquoted reference in flow style, where a brace begins a mapping:
// {token: ${NAME}}.
func flowHint(data []byte, line, column int) string {
	for text := range bytes.Lines(data) {
		if line--; line > 0 {
			continue
		}
		runes := []rune(string(text))
		if column < 2 || column > len(runes) || runes[column-2] != '$' || runes[column-1] != '{' {
			break
		}
		name, _, closed := strings.Cut(string(runes[column:]), "}")
		if !closed || !variableName(name) {
			name = "NAME"
		}
		return fmt.Sprintf("; between { } or [ ] quote a value that has ${%s}: \"${%[1]s}\"", name)
	}
	return ""
}

// syntaxHint names the usual cause of a parser's message that speaks of tokens.
func syntaxHint(message string) string {
	switch {
	case strings.HasPrefix(message, "did not find expected '-' indicator"), strings.HasPrefix(message, "did not find expected key"):
		return "; check the indentation: the keys of a mapping, and the items of a list, begin in the same column"
	case strings.HasPrefix(message, "mapping values are not allowed in this context"):
		return "; check the indentation, and quote a value that has a colon followed by a space"
	case strings.HasPrefix(message, "found unexpected end of stream"):
		return "; a quote or bracket is not closed"
	}
	return ""
}
