package gateway

import (
	"drawbridge/config"
	"drawbridge/gateway/admission"
)

// newRates compiles the rate limits of a configuration. Calls from the command line, or over stdio, have none.
func newRates(c *config.Config, local bool) admission.Rates {
	if local {
		return admission.Rates{}
	}
	return admission.NewRates(c)
}
