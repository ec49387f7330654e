package gatewaytest

import (
	"fmt"
)

// CompleteParams are the params of completion/complete for the beginning of a value.
func CompleteParams(value string) string {
	return fmt.Sprintf(`"ref":{"type":"ref/prompt","name":"find"},"argument":{"name":"who","value":%q}`, value)
}
