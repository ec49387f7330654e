package discovery

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// TestChurn makes 10,000 random changes at a registry, some of them within moments of each other. Whenever it is at rest, what is
// served is what the registry has: no service too many, none too few, each with its last addresses.
func TestChurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, "", "  - {name: shop, file: {paths: [x.json]}, max_loss: 100}\n")
		defer b.end()
		r := rand.New(rand.NewPCG(1, 2))
		truth, broken := map[string]Target{}, map[string]bool{}
		changes := 0
		for range 10_000 {
			name := fmt.Sprintf("s%02d", r.IntN(40))
			switch r.IntN(6) {
			case 0, 1:
				truth[name] = target(name, fmt.Sprintf("10.0.0.%d:80", r.IntN(250)))
			case 2:
				delete(truth, name)
			case 3: // it moves
				if old, ok := truth[name]; ok {
					old.Instances = []string{fmt.Sprintf("10.1.0.%d:80", r.IntN(250)), "10.1.1.1:80"}
					truth[name] = old
				}
			case 4: // its registration breaks, or is mended
				if old, ok := truth[name]; ok {
					if broken[name] = !broken[name]; broken[name] {
						old.Scheme = "ftp"
					} else {
						old.Scheme = "http"
					}
					truth[name] = old
				}
			case 5:
				b.registry.answers <- answer{err: errors.New("down")}
			}
			if broken[name] = broken[name] && truth[name].Scheme == "ftp"; r.IntN(3) > 0 {
				b.registry.answers <- answer{targets: slices.Collect(maps.Values(truth))}
				changes++
			}
			if r.IntN(50) == 0 {
				b.registry.answers <- answer{targets: slices.Collect(maps.Values(truth))}
				time.Sleep(2 * longest)
				synctest.Wait()
				compare(t, b, truth)
			}
		}
		if changes < 5_000 {
			t.Errorf("%d changes", changes)
		}
	})
}

// compare demands that what is served is what the registry has.
func compare(t *testing.T, b *bench, truth map[string]Target) {
	t.Helper()
	want := map[string][]string{}
	for name := range truth {
		if one := truth[name]; one.Scheme == "http" {
			want["shop-"+name] = slices.Sorted(slices.Values(one.Instances))
		}
	}
	s := b.Snapshot()
	have := map[string][]string{}
	for i := range s.APIs {
		have[s.APIs[i].Name] = b.Instances(s.APIs[i].Service()).Load()
	}
	if !maps.EqualFunc(want, have, slices.Equal) {
		t.Fatalf("served %v, want %v", have, want)
	}
	if served := len(slices.DeleteFunc(slices.Clone(s.Services), func(o ServiceStatus) bool { return o.State != Served })); served != len(want) || len(s.Services) != len(truth) {
		t.Errorf("%d of %d services are served, want %d of %d", served, len(s.Services), len(want), len(truth))
	}
}
