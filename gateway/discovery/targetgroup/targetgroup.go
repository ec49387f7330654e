package targetgroup

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"drawbridge/config"
	"drawbridge/gateway/discovery"
	"drawbridge/openapi/tree"
)

// The labels that the gateway reads. Selectors can match any label.
const (
	LabelService   = "service"   // the service's name; without it, job
	LabelNamespace = "namespace" // the namespace
	LabelScheme    = "scheme"    // http or https; without it, __scheme__, else http
	LabelBasePath  = "base_path" // the path of the base URL
	LabelOpenAPI   = "openapi"   // the URL of the OpenAPI document, or its path on the service
	LabelTags      = "tags"      // the tags, separated by commas
)

// MaxSize is the maximum size of a list in bytes.
const MaxSize = 16 << 20

// maxGroups is the maximum number of groups that are read; more are reported.
const maxGroups = 100_000

// maxProblems is the maximum number of problems that an error lists.
const maxProblems = 5

// group is a target group: instances of one service, with their labels.
type group struct {
	Targets []string          `json:"targets" yaml:"targets"`
	Labels  map[string]string `json:"labels" yaml:"labels"`
}

// ParseJSON reads a list in JSON. With an error there may be services too: those of the groups that can be used.
func ParseJSON(text []byte) ([]discovery.Target, error) {
	var groups []group
	if err := json.Unmarshal(text, &groups); err != nil {
		return nil, fmt.Errorf(`expected a list of {"targets": ["host:port"], "labels": {"service": "NAME"}}%s`, found(err))
	}
	return targets(groups)
}

// maxValues is the limit of [tree.Limits] on the values of a list, of which YAML, whose values are larger, may have a third.
const maxValues = 60 * maxGroups

// ParseYAML reads a list in YAML; see [ParseJSON]. It is read within limits, because it grows with its aliases.
func ParseYAML(text []byte) ([]discovery.Target, error) {
	list, err := tree.Parse("", text, tree.Limits{Nodes: maxValues})
	if err != nil {
		return nil, fmt.Errorf("expected a YAML list of {targets: [host:port], labels: {service: NAME}}: %w", inText(err))
	}
	return ParseJSON(list.AppendJSON(nil))
}

// inText returns an error of the parser with its line, without the file, which the caller adds.
func inText(err error) error {
	var syntax *tree.SyntaxError
	var limit *tree.LimitError
	switch {
	case errors.As(err, &syntax):
		return fmt.Errorf("line %d: %s", syntax.Position.Line, syntax.Message)
	case errors.As(err, &limit):
		return fmt.Errorf("line %d: %s", limit.Position.Line, limit.Message)
	}
	return err
}

// found describes the JSON that is not a list of groups.
func found(err error) string {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &kind) && kind.Field != "":
		return fmt.Sprintf(", got a JSON %s as %s", kind.Value, kind.Field)
	case errors.As(err, &kind):
		return ", got a JSON " + kind.Value
	case errors.As(err, &syntax):
		return fmt.Sprintf(": byte %d: %s", syntax.Offset, err)
	}
	return ": " + err.Error()
}

func targets(groups []group) ([]discovery.Target, error) {
	var problems []error
	if len(groups) > maxGroups {
		problems = append(problems, fmt.Errorf("the list has %d groups; those after the first %d are not read", len(groups), maxGroups))
		groups = groups[:maxGroups]
	}
	var all discovery.Merger
	for i := range groups {
		t := groups[i].target()
		if t.Name == "" {
			problems = append(problems, fmt.Errorf("group %d has neither the label %s nor the label job; one must name the service", i+1, LabelService))
		} else if !all.Add(&t) {
			problems = append(problems, fmt.Errorf("group %d is another one of the service %.100q, with another %s, %s or %s; it is left out",
				i+1, t.Name, LabelScheme, LabelBasePath, LabelOpenAPI))
		}
	}
	if len(problems) > maxProblems {
		problems = append(problems[:maxProblems], fmt.Errorf("and %d more", len(problems)-maxProblems))
	}
	return all.Targets(), errors.Join(problems...)
}

// target returns the service of a group.
func (g *group) target() discovery.Target {
	l := g.Labels
	t := discovery.Target{
		Service:     config.Service{Name: cmp.Or(l[LabelService], l["job"]), Namespace: l[LabelNamespace], Labels: maps.Clone(l)},
		Scheme:      cmp.Or(l[LabelScheme], l["__scheme__"], "http"),
		BasePath:    l[LabelBasePath],
		Document:    l[LabelOpenAPI],
		Instances:   slices.Clone(g.Targets),
		ContextPath: discovery.ContextPath(l, ""),
	}
	for tag := range strings.SplitSeq(l[LabelTags], ",") {
		if tag = strings.TrimSpace(tag); tag != "" {
			t.Tags = append(t.Tags, tag)
		}
	}
	return t
}
