package gatewaytest

import (
	"fmt"
)

func CompleteParams(value string) string {
	return fmt.Sprintf(`"ref":{"type":"ref/prompt","name":"find"},"argument":{"name":"who","value":%q}`, value)
}
