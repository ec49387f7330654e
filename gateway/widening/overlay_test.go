package widening

import (
	"strings"
	"testing"

	"drawbridge/config"
)

// TestOverlaysWiden: an overlay that is gone may have removed what is there again, so the configuration gives more access; one
// more overlay does so only where it decides on restrictions.
func TestOverlaysWiden(t *testing.T) {
	for _, tt := range []struct {
		name     string
		old, new []config.Location
		trusted  bool
		want     string
	}{
		{"the same", []config.Location{"a", "b"}, []config.Location{"a", "b"}, false, ""},
		{"one more", []config.Location{"a"}, []config.Location{"a", "b"}, false, ""},
		{"one more that is trusted", []config.Location{"a"}, []config.Location{"a", "b"}, true, "overlays has a new one"},
		{"one less", []config.Location{"a", "b"}, []config.Location{"a"}, false, "overlays lacks one"},
		{"none", []config.Location{"a"}, nil, false, "overlays lacks one"},
		{"another order", []config.Location{"a", "b"}, []config.Location{"b", "a"}, false, "overlays lacks one, or has them in another order"},
		{"one before", []config.Location{"a"}, []config.Location{"b", "a"}, false, "overlays lacks one, or has them in another order"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			summary := func(overlays []config.Location) *Summary {
				c := load(t, base)
				c.APIs[0].Overlays, c.APIs[0].TrustExtensions = overlays, tt.trusted
				return Of(c, nil)
			}
			got := strings.Join(Wider(summary(tt.old), summary(tt.new), nil), "\n")
			if tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
				t.Errorf("opens %q, want %q", got, tt.want)
			}
		})
	}
}
