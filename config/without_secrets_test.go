package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// checkWithoutSecrets holds what LoadWithoutSecrets makes of a good configuration: the same where nothing is missing, and a
// configuration without errors where all variables are, unless a document's location needs one.
func checkWithoutSecrets(t *testing.T, location string, env map[string]string, cfg *Config, problems Problems) {
	t.Helper()
	same, got := LoadWithoutSecrets(location, func(name string) string { return env[name] })
	if same == nil || got.String() != problems.String() {
		t.Errorf("LoadWithoutSecrets: %s", got)
		return
	}
	want := *cfg
	want.Server.SealKeyFile = ""
	if diff := cmp.Diff(dump(t, &want), dump(t, same)); diff != "" {
		t.Errorf("LoadWithoutSecrets (-want +got):\n%s", diff)
	}
	_, got = LoadWithoutSecrets(location, func(string) string { return "" })
	for _, p := range got.Errors() {
		if !strings.Contains(p.Message, "the check needs it") {
			t.Errorf("LoadWithoutSecrets without variables: %s", p)
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
