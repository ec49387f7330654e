package discovery

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"drawbridge/config"
)

// maxAPIName is the maximum length of the name of an API.
const maxAPIName = 40

// apiName returns the name of a service's API. It depends on the registration alone, never on other services or on the
// order in which they are found.
func apiName(d *config.Discovery, s *config.Service) string {
	name := strings.NewReplacer("{provider}", d.Name, "{namespace}", s.Namespace, "{name}", cmp.Or(s.Alias, s.Name)).Replace(d.APIName)
	clean := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '-'
	}, name)
	if len(clean) <= maxAPIName {
		return clean
	}
	digest := sha256.Sum256([]byte(name))
	return clean[:maxAPIName-9] + "-" + hex.EncodeToString(digest[:4])
}
