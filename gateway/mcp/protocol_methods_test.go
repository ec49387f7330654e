package mcp

import "testing"

// TestCapabilitiesOfMethods: the methods of a table decide which capabilities are declared, and a handler serves all of them.
func TestCapabilitiesOfMethods(t *testing.T) {
	for _, tt := range []struct {
		name string
		want Capabilities
	}{
		{"tools/call", Capabilities{Tools: true}},
		{"prompts/get", Capabilities{Prompts: true}},
		{"resources/templates/list", Capabilities{Resources: true}},
		{"completion/complete", Capabilities{Completions: true}},
		{"tasks/cancel", Capabilities{Tasks: true}},
		{"unknown", Capabilities{}},
	} {
		methods := Methods{tt.name: servePing}
		if got := methods.Capabilities(); got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
		if h := NewHandler(methods, Options{Capabilities: methods.Capabilities()}); h.methods[tt.name] == nil {
			t.Errorf("%s is not served", tt.name)
		}
		if h := NewHandler(methods, Options{}); h.methods[tt.name] != nil && tt.want != (Capabilities{}) {
			t.Errorf("%s is served without its capability", tt.name)
		}
	}
}
