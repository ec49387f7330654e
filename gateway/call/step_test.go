package call

import (
	"errors"
	"testing"
	"time"

	"drawbridge/auth"
	"drawbridge/gateway/mcp"
)

// TestStepAfterExpiry holds that a call makes no further step once the access token of its caller has expired.
func TestStepAfterExpiry(t *testing.T) {
	for _, tt := range []struct {
		left    time.Duration
		refused bool
	}{{-time.Second, true}, {time.Hour, false}} {
		c := &Call{Invocation: Invocation{
			Endpoint: &Endpoint{Guard: &auth.Guard{}}, Caller: Caller{Principal: &auth.Principal{Expiry: time.Now().Add(tt.left)}},
		}}
		err := c.expired()
		if tt.refused {
			_, err = c.Step(t.Context(), Step{})
		}
		var refused *mcp.Error
		if errors.As(err, &refused) != tt.refused || tt.refused && refused.HTTPStatus != 401 {
			t.Errorf("%v before the expiry: %v", tt.left, err)
		}
	}
}
