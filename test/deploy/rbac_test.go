package deploy

import (
	"slices"
	"strings"
	"testing"
)

// TestRights: the service account may read Services where the configuration discovers them, and nothing else anywhere.
func TestRights(t *testing.T) {
	helm := tool(t, "HELM")
	for _, c := range []struct {
		values string
		set    []string
		want   []string // kinds
	}{
		{"defaults", nil, nil},
		{"discovery", nil, []string{"Role", "RoleBinding", "Role", "RoleBinding"}},
		{"discovery", []string{"--set", "rbac.create=false"}, nil},
		{"discovery_everywhere", nil, []string{"ClusterRole", "ClusterRoleBinding"}},
	} {
		args := append([]string{"template", "mcp", chart, "--namespace", "mcp", "--kube-version", cluster, "-f", "testdata/values/" + c.values + ".yaml"}, c.set...)
		text, ok := output(t, nil, helm, args...)
		if !ok {
			t.Fatal(text)
		}
		var kinds []string
		for _, o := range parse(t, text) {
			if strings.Contains(o.Kind, "Role") {
				kinds = append(kinds, o.Kind)
			}
		}
		slices.Sort(kinds)
		slices.Sort(c.want)
		if !slices.Equal(kinds, c.want) {
			t.Errorf("%s %s: %s", c.values, c.set, kinds)
		}
		if n := strings.Count(text, "verbs: [get, list, watch]"); n != len(c.want) || strings.Count(text, "verbs:") != n {
			t.Errorf("%s %s: %d rules", c.values, c.set, n)
		}
	}
}
