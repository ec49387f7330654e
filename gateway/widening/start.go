package widening

import (
	"fmt"
	"strings"

	"drawbridge/config"
)

// maxListed is the maximum number of widenings that an error or a log record lists.
const maxListed = 20

// CheckStart compares a configuration that is about to run with the access that the last configuration of the same file
// granted. The error lists the access beyond it, unless accept is set; it is logged then. Dropping auth is an error even
// with accept, except for a local gateway, which needs none: a truncated file must not open a service that is always
// started with that flag. A nil Recorder permits every configuration.
func (r *Recorder) CheckStart(c *config.Config, accept, local bool) error {
	if r == nil {
		return nil
	}
	last, err := r.read()
	switch {
	case err != nil && c.Auth == nil && !local:
		return fmt.Errorf("auth: %s has none, and nothing tells whether the last configuration that ran here had it: %w; put auth back, remove the record, "+
			"or write auth: {anonymous: true} if everybody who reaches the gateway may call", r.configFile, err)
	case err != nil:
		r.log.Warn("the configuration can't be compared with the last one that ran", "error", err)
		return nil
	case last == nil:
		return nil
	}
	if last.Auth != nil && c.Auth == nil && !local {
		return fmt.Errorf("auth: %s has none, and the last configuration that ran here had it (%s): the file may be cut short; "+
			"put auth back, or write auth: {anonymous: true} if everybody who reaches the gateway may call", r.configFile, strings.Join(r.files, ", "))
	}
	opens := Wider(last, Of(c, last), nil)
	if len(opens) == 0 {
		return nil
	}
	listed := opens[:min(len(opens), maxListed)]
	if accept {
		r.log.Warn("accepted a configuration that grants more access", "opens", listed, "count", len(opens))
		return nil
	}
	return fmt.Errorf("%s would open access that the last configuration that ran here did not give (%s): if that is meant, start with --accept\n  %s",
		r.configFile, strings.Join(r.files, ", "), strings.Join(listed, "\n  "))
}
