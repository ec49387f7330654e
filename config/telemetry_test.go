package config_test

import (
	"os"
	"path/filepath"
	"testing"

	"drawbridge/config"
)

// TestSignalURL: the address of a collector alone is enough, a path is that of traces, and other signals go beside it.
func TestSignalURL(t *testing.T) {
	t.Parallel()
	for given, want := range map[string][2]string{
		"http://collector:4318":                 {"http://collector:4318/v1/traces", "http://collector:4318/v1/metrics"},
		"http://collector:4318/":                {"http://collector:4318/v1/traces", "http://collector:4318/v1/metrics"},
		"https://collector/v1/traces":           {"https://collector/v1/traces", "https://collector/v1/metrics"},
		"https://collector/tenants/a/v1/traces": {"https://collector/tenants/a/v1/traces", "https://collector/tenants/a/v1/metrics"},
		"https://collector/tenants/a/v1/spans":  {"https://collector/tenants/a/v1/spans", ""},
	} {
		file := filepath.Join(t.TempDir(), "drawbridge.yaml")
		if err := os.WriteFile(file, []byte("apis: [{spec: a.yaml}]\ntelemetry: {otlp_endpoint: '"+given+"'}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		c, problems := config.Load(file, func(string) string { return "" })
		if err := problems.Err(); err != nil {
			t.Fatal(err)
		}
		of := &c.Telemetry
		got := [2]string{of.SignalURL(config.TracesPath).String()}
		if metrics := of.SignalURL(config.MetricsPath); metrics != nil {
			got[1] = metrics.String()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", given, got, want)
		}
	}
}
