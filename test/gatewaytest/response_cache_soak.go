package gatewaytest

import (
	"regexp"
)

var SoakAnswer = regexp.MustCompile(`\\"answer\\":(\d+),\\"who\\":\\"(\w*)\\"`)
