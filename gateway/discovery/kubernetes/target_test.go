package kubernetes

import (
	"encoding/json"
	"flag"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"drawbridge/config"
	"drawbridge/gateway/discovery"
	"drawbridge/test/cases"
)

var update = flag.Bool("update", false, "accept what the cases give now")

// archives runs f for each case of a folder. f changes the files that it compares.
func archives(t *testing.T, pattern string, f func(t *testing.T, files map[string]*txtar.File)) {
	t.Helper()
	cases.Run(t, pattern, func(t *testing.T, path string, archive *txtar.Archive) {
		files := map[string]*txtar.File{}
		for i := range archive.Files {
			files[archive.Files[i].Name] = &archive.Files[i]
		}
		want := string(txtar.Format(archive))
		f(t, files)
		if *update {
			cases.Write(t, path, archive)
		} else if diff := cmp.Diff(want, string(txtar.Format(archive))); diff != "" {
			t.Error(diff)
		}
	})
}

// TestTargets reads the lists of testdata/targets as services, with their names and with their endpoints as addresses.
func TestTargets(t *testing.T) {
	archives(t, "testdata/targets/*.txtar", func(t *testing.T, files map[string]*txtar.File) {
		for _, address := range []config.ServiceAddress{config.AddressService, config.AddressEndpoints} {
			p := New(&config.KubernetesDiscovery{Address: address}, &Cluster{}, nil)
			for i, name := range []string{"services.json", "endpointslices.json"} {
				var list page
				if err := json.Unmarshal(files[name].Data, &list); err != nil {
					t.Fatal(err)
				}
				l := &listed{objects: map[string]object{}, wrong: map[string]error{}}
				for _, item := range list.Items {
					p.watchers[i].add(l, item)
				}
				p.sources[i].replace(l)
			}
			p.report(func(targets []discovery.Target, err error) {
				files[string(address)].Data = []byte(describe(targets, err))
			})
		}
	})
}
