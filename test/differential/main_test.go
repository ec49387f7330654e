package differential

import (
	"testing"

	"go.uber.org/goleak"
)

// The sessions of the SDK's server are the SDK's to end.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/modelcontextprotocol/go-sdk/mcp.(*streamableServerConn).Read"))
}
