package config

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

// TestRedisURL: where a Redis is, and that no way of printing shows its password.
func TestRedisURL(t *testing.T) {
	for _, c := range []struct {
		text, shown, network, address string
		db                            int
		tls                           bool
		user, password                string
	}{
		{"redis://h", "redis://h:6379/0", "tcp", "h:6379", 0, false, "", ""},
		{"redis://:pass%2Fword@[::1]:7000/2", "redis://[::1]:7000/2", "tcp", "[::1]:7000", 2, false, "", "pass/word"},
		{"rediss://gate:pass-word@h:6380/", "rediss://h:6380/0", "tcp", "h:6380", 0, true, "gate", "pass-word"},
		{"unix:///run/redis.sock", "unix:///run/redis.sock?db=0", "unix", "/run/redis.sock", 0, false, "", ""},
		{"unix://gate:pass-word@/run/redis.sock?db=3", "unix:///run/redis.sock?db=3", "unix", "/run/redis.sock", 3, false, "gate", "pass-word"},
	} {
		var u RedisURL
		if err := u.parse(c.text); err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		user, password := u.Reveal()
		if u.Network() != c.network || u.Address() != c.address || u.DB() != c.db || u.TLS() != c.tls || user != c.user || password != c.password {
			t.Errorf("%s: %s %s %d %v %q %q", c.text, u.Network(), u.Address(), u.DB(), u.TLS(), user, password)
		}
		outer := struct{ inner *RedisURL }{&u}
		var log strings.Builder
		slog.New(slog.NewTextHandler(&log, nil)).Info("x", "url", u)
		text, _ := json.Marshal(struct{ URL RedisURL }{u})
		for _, shown := range []string{fmt.Sprintf("%v %+v %#v %s %q %x", u, u, u, u, u, u), fmt.Sprintf("%v %+v %#v", outer, outer, outer), log.String(), string(text)} {
			if c.password != "" && (strings.Contains(shown, c.password) || strings.Contains(shown, fmt.Sprintf("%x", c.password))) {
				t.Errorf("%s: shown as %s", c.text, shown)
			}
		}
		if u.String() != c.shown {
			t.Errorf("%s: shown as %s, want %s", c.text, u, c.shown)
		}
	}
	for _, text := range []string{"h:6379", "redis://", "redis:h", "http://h", "redis://h:0", "redis://h:99999", "redis://h/x", "redis://h/-1", "redis://h?db=1", "redis://h#f",
		"unix://h/run", "unix://", "unix:///", "unix:///run?x=1", "redis://u:a b@h", "redis://u:a/b@h", "redis://h/1/2"} {
		var u RedisURL
		if err := u.parse(text); err == nil || u.at != nil || strings.Contains(err.Error(), "u:a") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
