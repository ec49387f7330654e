package config

import (
	"bytes"
	"regexp"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// skillFileName is the name of the file that makes a folder a skill.
const skillFileName = "SKILL.md"

// Limits of the Agent Skills specification, in characters, and of a front matter, which is a part of each list, in bytes.
const (
	maxSkillName        = 64
	maxSkillDescription = 1024
	maxCompatibility    = 500
	maxFrontMatter      = 64 << 10
)

// skillName is the form of a name by the Agent Skills specification.
var skillName = regexp.MustCompile(`\A[a-z0-9]+(-[a-z0-9]+)*\z`)

// readSkillFile reads the front matter and the text of SKILL.md. name is the name that the skill must have.
func (l *loader) readSkillFile(data []byte, name string) *SkillContent {
	whole := position{1, 1}
	if !utf8.Valid(data) {
		l.add(Error, whole, "", "is not UTF-8")
		return nil
	}
	lines := bytes.ReplaceAll(bytes.TrimPrefix(data, []byte("\ufeff")), []byte("\r\n"), []byte("\n"))
	front, text, line, closed := frontMatter(lines)
	switch {
	case line == 1 && closed:
		l.add(Error, whole, "", "must begin with a line --- and the keys name and description, which another line --- ends")
		return nil
	case !closed:
		l.add(Error, whole, "", "begins with --- for keys, and no other line --- ends them")
		return nil
	case len(front) > maxFrontMatter:
		l.add(Error, whole, "", "has %d bytes between the lines ---, more than %d", len(front), maxFrontMatter)
		return nil
	}
	root, ok := l.parseYAML(front)
	if !ok {
		return nil
	}
	if root == nil || root.Kind != yaml.MappingNode {
		l.add(Error, whole, "", "expected keys between the lines ---, such as name and description")
		return nil
	}
	if alias := firstAlias(root); alias != nil {
		l.add(Error, positionOf(alias), "", "the alias *%s can't stand in a skill, whose front matter other programs compare with the list; write its value", alias.Value)
		return nil
	}
	object, ok := l.appendJSON(nil, root, "")
	if !ok {
		return nil
	}
	c := &SkillContent{FrontMatter: JSON(object), Text: text, file: l.file, textLine: line}
	keys := map[string]*yaml.Node{}
	for i := 0; i+1 < len(root.Content); i += 2 {
		keys[root.Content[i].Value] = root.Content[i+1]
		l.mark(root.Content[i].Value, root.Content[i+1])
	}
	l.skillKeys(c, keys, name)
	c.positions = l.positions
	return c
}

// skillKeys checks the keys of a front matter that the Agent Skills specification defines. Others are passed on.
func (l *loader) skillKeys(c *SkillContent, keys map[string]*yaml.Node, folder string) {
	text := func(key string, most int) string {
		n := keys[key]
		switch {
		case n == nil:
			return ""
		case n.ShortTag() != "!!str":
			l.errorf(key, "expected a string, got %s", described(n))
			return ""
		case strings.TrimSpace(n.Value) == "":
			l.errorf(key, "is empty")
		case utf8.RuneCountInString(n.Value) > most:
			l.errorf(key, "has %d characters, more than %d", utf8.RuneCountInString(n.Value), most)
		}
		return n.Value
	}
	for _, key := range []string{"name", "description"} {
		if keys[key] == nil {
			l.add(Error, position{1, 1}, key, "is required")
		}
	}
	c.Name, c.Description = text("name", maxSkillName), text("description", maxSkillDescription)
	switch {
	case c.Name == "" || !l.ok("name"):
	case !skillName.MatchString(c.Name):
		l.errorf("name", "%s must consist of lower-case letters, digits, and single hyphens between them", quote(c.Name))
	case c.Name != folder:
		l.errorf("name", "%s must be the name of the folder, %s; rename one of them, or set path", quote(c.Name), quote(folder))
	}
	text("license", maxFrontMatter)
	text("compatibility", maxCompatibility)
	c.AllowedTools = strings.Fields(text("allowed-tools", maxFrontMatter))
	if n := keys["metadata"]; n != nil && n.Kind != yaml.MappingNode {
		l.errorf("metadata", "expected a mapping, got %s", described(n))
	}
}

// firstAlias returns the first alias below a node, or nil.
func firstAlias(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n
	}
	for _, child := range n.Content {
		if alias := firstAlias(child); alias != nil {
			return alias
		}
	}
	return nil
}
