package filestore

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestOffer holds that an offer opens for five minutes, or the lifetime of files, with the keys of its store, until its file is stored.
func TestOffer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, tt := range []struct{ ttl, valid time.Duration }{{time.Hour, 5 * time.Minute}, {time.Minute, time.Minute}} {
			dir, limits := t.TempDir(), wide
			limits.TTL = tt.ttl
			s := open(t, dir, limits)
			sealed, o, err := s.Offer("alice", Metadata{Name: "a.pdf"}, 3)
			if err != nil {
				t.Fatal(err)
			}
			unused, _, err := s.Offer("alice", Metadata{}, 3)
			if err != nil {
				t.Fatal(err)
			}
			if got, ok := s.OpenOffer(sealed); !ok || got != o {
				t.Errorf("%+v, want %+v", got, o)
			}
			if _, ok := open(t, dir, limits, "another secret that is long enough").OpenOffer(sealed); ok {
				t.Error("it opens with another key")
			}
			w, err := s.CreateOffered(o)
			if err != nil {
				t.Fatal(err)
			}
			// Neither in this process nor in another one is there a second writer.
			for _, other := range []*Store{s, open(t, dir, limits)} {
				if _, err := other.CreateOffered(o); !errors.Is(err, ErrTaken) {
					t.Errorf("a second writer: %v", err)
				}
			}
			w.Abort()
			if w, err = s.CreateOffered(o); err != nil { // what broke off can be sent again
				t.Fatal(err)
			}
			if _, err := w.Write([]byte("abc")); err != nil {
				t.Fatal(err)
			}
			if _, err := w.Commit(o.Metadata); err != nil {
				t.Fatal(err)
			}
			if _, ok := s.OpenOffer(sealed); ok {
				t.Error("it opens after its file was stored")
			}
			if _, err := s.CreateOffered(o); !errors.Is(err, ErrTaken) {
				t.Errorf("an offer whose file is stored: %v", err)
			}
			time.Sleep(tt.valid - 2*time.Second)
			if _, ok := s.OpenOffer(unused); !ok {
				t.Error("it has expired too early")
			}
			time.Sleep(2 * time.Second)
			s.Sweep(time.Now())
			for _, offer := range []string{unused, sealed} {
				if _, ok := s.OpenOffer(offer); ok {
					t.Errorf("it opens after %s", tt.valid)
				}
			}
		}
	})
}
