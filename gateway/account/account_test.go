package account

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// TestTokenLifetimes: a token is refreshed half a minute before it expires, or in the last tenth of a short life, and is sent until then.
func TestTokenLifetimes(t *testing.T) {
	issued := time.Date(2026, 7, 28, 12, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		name         string
		life, at     time.Duration // life is 0 if the service gives none
		fresh, valid bool
	}{
		{"without expiry", 0, 1000 * time.Hour, true, true},
		{"new", time.Hour, 0, true, true},
		{"before half a minute", time.Hour, time.Hour - 31*time.Second, true, true},
		{"in the last half minute", time.Hour, time.Hour - 29*time.Second, false, true},
		{"expired", time.Hour, time.Hour, false, false},
		{"short", 10 * time.Second, 8 * time.Second, true, true},
		{"in the last tenth", 10 * time.Second, 9500 * time.Millisecond, false, true},
	} {
		s := &stored{Account: Account{Refreshed: issued}, Access: "a"}
		if tt.life > 0 {
			s.Expiry = issued.Add(tt.life)
		}
		now := issued.Add(tt.at)
		if s.isFresh(now) != tt.fresh || s.isValid(now) != tt.valid {
			t.Errorf("%s: fresh %t, valid %t", tt.name, s.isFresh(now), s.isValid(now))
		}
	}
}

// TestUsable: an account without a refresh token ends with its access token, and one without a scope is asked for again.
func TestUsable(t *testing.T) {
	now := time.Date(2026, 7, 28, 12, 0, 0, 0, time.UTC)
	account := func(refresh string, life time.Duration, scopes ...string) *stored {
		return &stored{Account: Account{Scopes: scopes, Refreshed: now}, Access: "a", Refresh: refresh, Expiry: now.Add(life)}
	}
	for _, tt := range []struct {
		name   string
		s      *stored
		scopes []string
		want   bool
	}{
		{"valid", account("", time.Hour), nil, true},
		{"expired", account("", -time.Hour), nil, false},
		{"expired with a refresh token", account("r", -time.Hour), nil, true},
		{"scopes", account("r", time.Hour, "read", "write"), []string{"write"}, true},
		{"another scope", account("r", time.Hour, "read"), []string{"read", "write"}, false},
		{"the beginning of a scope", account("r", time.Hour, "read:all"), []string{"read"}, false},
	} {
		if got := tt.s.isUsable(now, tt.scopes); got != tt.want {
			t.Errorf("%s: %t", tt.name, got)
		}
	}
}

// TestNames: no two callers or services share a name, even if their texts joined are equal.
func TestNames(t *testing.T) {
	seen := map[string][]string{}
	texts := []string{"", "a", "b", "ab", "a|b", `a","b`, `"`, `\`, "a\x00b"}
	for _, service := range texts {
		for _, issuer := range texts {
			for _, subject := range texts {
				name, of := nameOf(service, issuer, subject), []string{service, issuer, subject}
				if other := seen[name]; other != nil || len(name) != nameLength {
					t.Errorf("%q and %q: %s", of, other, name)
				}
				seen[name] = of
			}
		}
	}
}

// TestFiles: a folder keeps values by name, lists those alone, and loses files that are too old to count.
func TestFiles(t *testing.T) {
	ctx, f := t.Context(), Files{filepath.Join(t.TempDir(), "accounts")}
	list := func() (values []string) {
		if err := f.Each(ctx, func(value []byte) { values = append(values, string(value)) }); err != nil {
			t.Fatal(err)
		}
		slices.Sort(values)
		return values
	}
	if values := list(); values != nil {
		t.Errorf("%q without a folder", values)
	}
	if _, ok, err := f.Get(ctx, "one"); ok || err != nil {
		t.Error(ok, err)
	}
	for _, value := range []string{"first", "second"} { // the second replaces the first
		if err := f.Put(ctx, "one", "owner", []byte(value), time.Time{}); err != nil {
			t.Fatal(err)
		}
		if err := f.Put(ctx, "two", "owner", []byte("other "+value), time.Time{}); err != nil {
			t.Fatal(err)
		}
	}
	if value, ok, err := f.Latest(ctx, "one"); string(value) != "second" || !ok || err != nil {
		t.Errorf("%s %t %v", value, ok, err)
	}
	if err := os.WriteFile(filepath.Join(f.Dir, "notes.txt"), []byte("no account"), 0o600); err != nil {
		t.Fatal(err)
	}
	if values := list(); !slices.Equal(values, []string{"other second", "second"}) {
		t.Errorf("%q", values)
	}
	old := time.Now().Add(-lifetime - time.Hour)
	if err := os.Chtimes(f.path("two"), old, old); err != nil {
		t.Fatal(err)
	}
	if values := list(); !slices.Equal(values, []string{"second"}) {
		t.Errorf("%q", values)
	}
	if _, err := os.Stat(f.path("two")); !os.IsNotExist(err) {
		t.Errorf("the old file: %v", err)
	}
	if err := (Files{}).Put(ctx, "one", "owner", nil, time.Time{}); err == nil {
		t.Error("no error without a folder")
	}
}
