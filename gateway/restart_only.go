package gateway

import (
	"reflect"
	"slices"

	"drawbridge/config"
)

// restartKeys lists the settings in which two configurations differ and which are read at the start alone, as
// [config.Config.ServedAs] has it:
//
//   - where the process listens, and whether it speaks TLS there: another process, or a proxy, may be told of the address, and
//     a port that can't be had would be found when the old one is closed already. What certificate files hold is read again.
//   - server.old_transport: it adds URLs;
//   - server.state_dir: what one process keeps in two places would be found in the wrong one;
//   - limits.max_header: net/http reads it when a listener begins;
//   - state.redis: what replicas share is not taken from one place to another;
//   - where traces go, and the form of the log: what is on its way would be lost, or be in two forms.
func restartKeys(old, c *config.Config) []string {
	var keys []string
	for key, values := range map[string][2]any{
		"server.listen":           {old.Server.Listen, c.Server.Listen},
		"server.tls":              {old.Server.TLS, c.Server.TLS},
		"server.old_transport":    {old.Server.OldTransport, c.Server.OldTransport},
		"admin.listen":            {old.Admin.Listen, c.Admin.Listen},
		"limits.max_header":       {old.Limits.MaxHeader, c.Limits.MaxHeader},
		"server.state_dir":        {old.Server.StateDir, c.Server.StateDir},
		"telemetry.otlp_endpoint": {old.Telemetry.OTLPEndpoint, c.Telemetry.OTLPEndpoint},
		"telemetry.log_format":    {old.Telemetry.LogFormat, c.Telemetry.LogFormat},
		"state":                   {old.State, c.State},
		"audit":                   {audited(old.Audit), audited(c.Audit)},
	} {
		if !reflect.DeepEqual(values[0], values[1]) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// audited is the audit log with the key in the clear, to be compared.
func audited(a *config.Audit) any {
	if a == nil {
		return nil
	}
	plain := *a
	plain.HashKey = config.Secret{}
	return [2]any{plain, a.HashKey.Reveal()}
}
