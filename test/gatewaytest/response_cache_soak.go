package gatewaytest

import (
	"regexp"
)

// SoakAnswer finds the number and the caller in a response of the soak test.
var SoakAnswer = regexp.MustCompile(`\\"answer\\":(\d+),\\"who\\":\\"(\w*)\\"`)
