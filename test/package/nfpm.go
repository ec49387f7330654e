package main

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"text/template"

	"go.yaml.in/yaml/v4"
)

// parameters are what goreleaser knows of an artifact.
type parameters struct{ Program, Arch, Version, Date string }

// goreleaser's keys of a package, by what nfpm makes of them.
var (
	sameKeys = []string{"maintainer", "description", "license", "section", "priority", "umask", "mtime", "recommends", "depends", "scripts", "deb", "rpm", "contents"}
	ownKeys  = []string{"file_name_template", "formats"}
)

// nfpmConfig returns the configuration of nfpm for one program.
func nfpmConfig(goreleaser []byte, p parameters) ([]byte, error) {
	var file struct {
		NFPMs []yaml.Node `yaml:"nfpms"`
	}
	if err := yaml.Unmarshal(goreleaser, &file); err != nil {
		return nil, err
	}
	if len(file.NFPMs) != 1 || file.NFPMs[0].Kind != yaml.MappingNode {
		return nil, fmt.Errorf("nfpms has %d items, expected one mapping", len(file.NFPMs))
	}
	section := file.NFPMs[0].Content
	out := &yaml.Node{Kind: yaml.MappingNode, Content: pairs("arch", p.Arch, "platform", "linux", "version", p.Version)}
	bindir := "/usr/bin"
	var contents *yaml.Node
	for i := 0; i < len(section); i += 2 {
		key, value := section[i], section[i+1]
		switch name := key.Value; {
		case name == "bindir":
			bindir = value.Value
			continue
		case slices.Contains(ownKeys, name):
			continue
		case name == "package_name":
			key = scalar("name")
		case name == "contents":
			contents = value
		case !slices.Contains(sameKeys, name):
			return nil, fmt.Errorf("line %d: nfpms[0].%s: it is not known how nfpm names this key", key.Line, name)
		}
		if err := fill(value, p); err != nil {
			return nil, fmt.Errorf("nfpms[0].%s: %w", key.Value, err)
		}
		out.Content = append(out.Content, key, value)
	}
	if contents == nil {
		return nil, fmt.Errorf("nfpms[0] has no contents")
	}
	info := &yaml.Node{Kind: yaml.MappingNode, Content: append(pairs("mtime", p.Date), scalar("mode"), &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: "0755"})}
	program := &yaml.Node{Kind: yaml.MappingNode, Content: append(pairs("src", p.Program, "dst", path.Join(bindir, "drawbridge")), scalar("file_info"), info)}
	contents.Content = append(contents.Content, program)
	return yaml.Marshal(out)
}

func scalar(text string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text}
}

func pairs(texts ...string) (nodes []*yaml.Node) {
	for _, text := range texts {
		nodes = append(nodes, scalar(text))
	}
	return nodes
}

// fill executes the templates in the scalars of a node.
func fill(n *yaml.Node, p parameters) error {
	for _, child := range n.Content {
		if err := fill(child, p); err != nil {
			return err
		}
	}
	if n.Kind != yaml.ScalarNode || !strings.Contains(n.Value, "{{") {
		return nil
	}
	t, err := template.New("").Option("missingkey=error").Parse(n.Value)
	if err != nil {
		return fmt.Errorf("line %d: %w", n.Line, err)
	}
	var text strings.Builder
	if err := t.Execute(&text, map[string]any{"Version": p.Version, "Arch": p.Arch, "Env": map[string]string{"RELEASE_DATE": p.Date}}); err != nil {
		return fmt.Errorf("line %d: %w", n.Line, err)
	}
	n.Value = text.String()
	return nil
}
