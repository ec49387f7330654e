package gateway

import (
	"reflect"
	"slices"

	"drawbridge/config"
)

// restartKeys lists the settings in which two configurations differ and which are read at the start alone.
func restartKeys(old, c *config.Config) []string {
	var keys []string
	for key, values := range map[string][2]any{
		"server.listen":          {old.Server.Listen, c.Server.Listen},
		"server.public_url":      {old.Server.PublicURL, c.Server.PublicURL},
		"server.tls":             {old.Server.TLS, c.Server.TLS},
		"server.trusted_proxies": {old.Server.TrustedProxies, c.Server.TrustedProxies},
		"server.seal_keys":       {revealed(old.Server.SealKeys), revealed(c.Server.SealKeys)},
		"server.instructions":    {old.Server.Instructions, c.Server.Instructions},
		"server.allowed_hosts":   {old.Server.AllowedHosts, c.Server.AllowedHosts},
		"server.allowed_origins": {old.Server.AllowedOrigins, c.Server.AllowedOrigins},
		"server.old_transport":   {old.Server.OldTransport, c.Server.OldTransport},
		"server.shutdown_delay":  {old.Server.ShutdownDelay, c.Server.ShutdownDelay},
		"server.drain_timeout":   {old.Server.DrainTimeout, c.Server.DrainTimeout},
		"admin.listen":           {old.Admin.Listen, c.Admin.Listen},
		"admin.allowed_hosts":    {old.Admin.AllowedHosts, c.Admin.AllowedHosts},
		"admin.token":            {old.Admin.Token.Reveal(), c.Admin.Token.Reveal()},
		"limits.max_body":        {old.Limits.MaxBody, c.Limits.MaxBody},
		"limits.max_depth":       {old.Limits.MaxDepth, c.Limits.MaxDepth},
		"server.keep_alive":      {old.Server.KeepAlive, c.Server.KeepAlive},
		"limits.max_streams":     {[2]int{old.Limits.MaxStreams, old.Limits.MaxStreamsPerCaller}, [2]int{c.Limits.MaxStreams, c.Limits.MaxStreamsPerCaller}},
		"limits.max_header":      {old.Limits.MaxHeader, c.Limits.MaxHeader},
		"telemetry":              {old.Telemetry, c.Telemetry},
	} {
		if !reflect.DeepEqual(values[0], values[1]) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

func revealed(secrets []config.Secret) []string {
	var texts []string
	for _, s := range secrets {
		texts = append(texts, s.Reveal())
	}
	return texts
}
