package gatewaytest

import (
	"drawbridge/gateway/admin"
)

// InUse reports whether the newest document of an API is in use, whether or not its calls can be made.
func InUse(s admin.API) bool { return s.State == admin.Ready || s.State == admin.Uncallable }
