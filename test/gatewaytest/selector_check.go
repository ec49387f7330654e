package gatewaytest

import (
	"strings"
)

// Tagged returns an OpenAPI document whose operations are given as "METHOD PATH operationId tag".
func Tagged(title string, operations ...string) string {
	var b strings.Builder
	b.WriteString("openapi: 3.1.0\ninfo: {title: " + title + ", version: '1'}\nservers: [{url: 'http://127.0.0.1:1'}, {url: /}]\npaths:\n")
	for _, op := range operations {
		w := strings.Fields(op)
		b.WriteString("  " + w[1] + ": {" + strings.ToLower(w[0]) + ": {operationId: " + w[2] + ", tags: [" + w[3] + "], responses: {'200': {description: ok}}}}\n")
	}
	return b.String()
}
