package config

func (a *Audit) validate(c cursor) {
	if !a.HashKey.IsZero() && a.Subject != SubjectHash && a.Arguments != ArgumentsDigest && c.ok("subject", "arguments") {
		c.errorf("hash_key", "has no effect: neither subjects nor arguments are hashed")
	}
	if !a.OTLP {
		return
	}
	if a.File != "" && c.ok("file") {
		c.errorf("file", "has no effect with otlp: true, which sends the records to telemetry.otlp_endpoint")
	}
	switch t := &c.config().Telemetry; {
	case !c.loader.ok("telemetry", "telemetry.otlp_endpoint"):
	case t.OTLPEndpoint == nil:
		c.errorf("otlp", "needs telemetry.otlp_endpoint, to which the records are sent")
	case t.SignalURL(LogsPath) == nil:
		c.errorf("otlp", "needs a telemetry.otlp_endpoint without a path, or with one that ends with %s", TracesPath)
	}
}
