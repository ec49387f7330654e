package discovery

import (
	"strings"
	"testing"
)

func TestCompareVersions(t *testing.T) {
	for _, c := range []struct {
		older, newer string
	}{
		{"1.0.0", "2.0.0"}, {"1.9", "1.10"}, {"v1.2.3", "1.2.4"}, {"1.0.0-alpha", "1.0.0"}, {"1.0.0-alpha.1", "1.0.0-alpha.beta"},
		{"1.0.0-rc.2", "1.0.0-rc.10"}, {"1", "1.0.1"}, {"2024.12.31", "2025.1.1"}, {"1.2.3.4", "1.2.3.5"}, {"0", "99999999999999999999999"},
	} {
		if order, ok := compareVersions(c.older, c.newer); order >= 0 || !ok {
			t.Errorf("%s and %s: %d %v", c.older, c.newer, order, ok)
		}
		if order, ok := compareVersions(c.newer, c.older); order <= 0 || !ok {
			t.Errorf("%s and %s: %d %v", c.newer, c.older, order, ok)
		}
	}
	for _, same := range [][2]string{{"1.0", "1.0.0"}, {"1.0.0+a", "1.0.0+b"}, {"x", "x"}, {"", ""}, {"01", "1"}} {
		if order, ok := compareVersions(same[0], same[1]); order != 0 || !ok {
			t.Errorf("%s: %d %v", same, order, ok)
		}
	}
	for _, none := range [][2]string{{"", "1"}, {"latest", "1.0"}, {"1.0.RELEASE", "1.0.0"}, {"1..2", "1.2"}, {strings.Repeat("1", 200), "1"}, {"-1", "0"}} {
		if _, ok := compareVersions(none[0], none[1]); ok {
			t.Errorf("%.20s has an order", none)
		}
	}
}
