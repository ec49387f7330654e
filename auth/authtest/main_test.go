package authtest

import (
	"flag"
	"testing"

	"go.uber.org/goleak"
)

var update = flag.Bool("update", false, "accept what the cases give")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
