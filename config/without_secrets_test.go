package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// checkWithoutSecrets holds what a load without secrets makes of a good configuration: the same where nothing is missing, and a
// configuration without errors where all variables are, unless a document's location needs one.
func checkWithoutSecrets(t *testing.T, location string, env map[string]string, cfg *Config, problems Problems) {
	t.Helper()
	same, got := LoadWith(location, func(name string) string { return env[name] }, LoadOptions{WithoutSecrets: true})
	if same == nil || got.String() != problems.String() {
		t.Errorf("without secrets: %s", got)
		return
	}
	want := *cfg
	want.Server.SealKeyFile = ""
	if diff := cmp.Diff(dump(t, &want), dump(t, same)); diff != "" {
		t.Errorf("without secrets (-want +got):\n%s", diff)
	}
	_, got = LoadWith(location, func(string) string { return "" }, LoadOptions{WithoutSecrets: true})
	for _, p := range got.Errors() {
		if !strings.Contains(p.Message, "the check needs it") {
			t.Errorf("without secrets without variables: %s", p)
		}
	}
	notes := map[string]bool{}
	for _, p := range got.Warnings() {
		reference, _, noted := strings.Cut(p.Message, ": ")
		if noted && strings.HasSuffix(p.Message, "is not checked") {
			if notes[reference] {
				t.Errorf("noted twice: %s", p)
			}
			notes[reference] = true
		}
	}
}
