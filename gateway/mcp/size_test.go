package mcp

import (
	"testing"
	"unsafe"
)

// TestExchangeSize: there is one for each request, and the runtime has sizes: 768, of which
// 8 are its own, and then 896.
func TestExchangeSize(t *testing.T) {
	t.Parallel()
	if size := unsafe.Sizeof(exchange{}); size > 760 {
		t.Errorf("an exchange has %d bytes, want at most 760", size)
	}
}
