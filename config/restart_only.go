package config

import "slices"

// ServedAs returns the configuration as a process serves it that was started with another: what is read at the start alone is
// as it was then. That is where the process listens and how, what it opened there, what follows from these, and what replicas share.
func (c *Config) ServedAs(started *Config) *Config {
	own := *c
	own.Server.Listen, own.Server.TLS, own.Server.OldTransport = started.Server.Listen, started.Server.TLS, started.Server.OldTransport
	if own.Server.TLS != nil && (c.Server.TLS == nil || c.Server.TLS.ClientCAFile != own.Server.TLS.ClientCAFile) {
		own.authorities = started.authorities
	}
	own.Admin.Listen, own.Server.StateDir = started.Admin.Listen, started.Server.StateDir
	own.Limits.MaxHeader = started.Limits.MaxHeader
	own.State = started.State
	own.Telemetry.OTLPEndpoint, own.Telemetry.LogFormat = started.Telemetry.OTLPEndpoint, started.Telemetry.LogFormat
	if c.Auth != nil && c.Resource() != own.Resource() {
		auth := *c.Auth
		auth.Issuers = slices.Clone(auth.Issuers)
		for i := range auth.Issuers {
			if is := &auth.Issuers[i]; slices.Equal(is.Audiences, []string{c.Resource()}) { // nobody wrote it down, see derive
				is.Audiences = nil
				if own.Resource() != "" {
					is.Audiences = []string{own.Resource()}
				}
			}
		}
		own.Auth = &auth
	}
	return &own
}
