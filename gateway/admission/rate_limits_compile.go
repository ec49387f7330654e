package admission

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"

	"drawbridge/config"
	"drawbridge/gateway/telemetry"
)

// RequestRateLimits are the rate limits of one configuration that apply to all requests. A nil limit is off.
type RequestRateLimits struct {
	Address, Principal *RateLimit
	groups             []*RateLimit
}

// NewRequestRateLimits compiles the rates of a configuration.
func NewRequestRateLimits(c *config.Config) RequestRateLimits {
	var all RequestRateLimits
	if r := &c.Limits.AddressRate; r.On() {
		all.Address = newRateLimit(r.Rate.Interval(), r.AtOnce(), telemetry.RefusedAddressRate, "requests from this address", "").tabulate()
	}
	if r := &c.Limits.PrincipalRate; r.On() {
		all.Principal = newRateLimit(r.Rate.Interval(), r.AtOnce(), telemetry.RefusedPrincipalRate, "requests of this caller", "").tabulate()
	}
	all.groups = newGroupRateLimits(c)
	return all
}

// NewCallRateLimits compiles the rates of a tool and of its API.
func NewCallRateLimits(tool string, toolRate *config.CallRate, api string, apiRate *config.CallRate) (all []*RateLimit) {
	add := func(r *config.CallRate, because telemetry.RefusalReason, whose, key string) {
		if r.On() {
			one := newRateLimit(r.Rate.Interval(), r.AtOnce(), because, whose, key)
			if one.perCaller = r.Per == config.PerPrincipal; one.perCaller {
				one.key += "|"
				one.whose += " by this caller"
			}
			all = append(all, one)
		}
	}
	add(toolRate, telemetry.RefusedToolRate, fmt.Sprintf("calls of the tool %q", tool), "tool:"+tool)
	add(apiRate, telemetry.RefusedAPIRate, fmt.Sprintf("calls of the API %q", api), "api:"+api)
	return all
}

// maxPrincipalKey is the maximum size in bytes of a name that is used as it is; longer ones are hashed.
const maxPrincipalKey = 256

// PrincipalKey returns the name of a principal's counter. Only a trusted issuer could make two principals with the same name.
func PrincipalKey(principal string) string {
	if len(principal) > maxPrincipalKey {
		return "#" + digest(principal)
	}
	return principal
}

// digest returns a hash of a name.
func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}
