package widening

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"drawbridge/config"
)

// generator makes configurations by changing one value after another of those of the cases of package config. A value is changed into another
// one of the same type that some configuration has.
type generator struct {
	*rand.Rand
	configs []*config.Config
	values  map[reflect.Type][]reflect.Value
	// changes reports whether a key may be changed; nil for all.
	changes func(k key) bool
}

// newGenerator returns a generator, and how many pairs of configurations a test compares: WIDENING_PAIRS, or a few. WIDENING_SEED repeats a run.
func newGenerator(t *testing.T) (g *generator, pairs int) {
	t.Helper()
	pairs, seed := 200, rand.Uint64()
	if text := os.Getenv("WIDENING_PAIRS"); text != "" {
		var err error
		if pairs, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	if text := os.Getenv("WIDENING_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("WIDENING_PAIRS=%d WIDENING_SEED=%d", pairs, seed)
	g = &generator{Rand: rand.New(rand.NewPCG(seed, 0)), values: map[reflect.Type][]reflect.Value{}}
	g.configs = append(g.configs, loadWithPair(t, all), load(t, base), loadWith(t, outward, "certificate"))
	files, err := filepath.Glob("../../config/testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	for _, file := range files {
		g.read(t, file)
	}
	for _, c := range g.configs {
		g.collect(reflect.ValueOf(c).Elem())
	}
	return g, pairs
}

// read reads the configurations of a case that have no errors.
func (g *generator) read(t *testing.T, file string) {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, f := range archive.Files {
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range archive.Files {
		if !strings.HasSuffix(f.Name, ".yaml") {
			continue
		}
		if c, _ := config.Load(filepath.Join(dir, filepath.FromSlash(f.Name)), func(string) string { return "" }); c != nil {
			g.configs = append(g.configs, c)
		}
	}
}

// collect notes the values of a configuration by their types.
func (g *generator) collect(v reflect.Value) {
	if len(g.values[v.Type()]) < 400 {
		g.values[v.Type()] = append(g.values[v.Type()], v)
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			g.collect(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			g.collect(v.Index(i))
		}
	case reflect.Map:
		for _, name := range namesOf(v) {
			g.collect(name)
			g.collect(v.MapIndex(name))
		}
	case reflect.Struct:
		for _, k := range keysOf(v.Type()) {
			g.collect(v.FieldByIndex(k.field.Index))
		}
	default:
	}
}

func (g *generator) pick(t reflect.Type) reflect.Value {
	if values := g.values[t]; len(values) > 0 {
		return values[g.IntN(len(values))]
	}
	return reflect.Zero(t)
}

// config returns one of the configurations with some changes.
func (g *generator) config(changes int) *config.Config {
	return g.change(g.configs[g.IntN(len(g.configs))], changes)
}

// change returns a copy of a configuration with some changes.
func (g *generator) change(c *config.Config, changes int) *config.Config {
	v := reflect.ValueOf(c).Elem()
	for range changes {
		v = g.changed(v)
	}
	changed := v.Interface().(config.Config) //nolint:forcetypeassert // a copy of c
	return &changed
}

// changed returns a copy of a value with a change in one place.
func (g *generator) changed(v reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.Pointer:
		switch {
		case v.IsNil():
			return g.pick(v.Type())
		case g.IntN(6) == 0:
			return reflect.Zero(v.Type())
		}
		to := reflect.New(v.Type().Elem())
		to.Elem().Set(g.changed(v.Elem()))
		return to
	case reflect.Slice:
		return g.changedList(v)
	case reflect.Map:
		return g.changedMap(v)
	case reflect.Struct:
		return g.changedSection(v)
	case reflect.Bool:
		return reflect.ValueOf(!v.Bool()).Convert(v.Type())
	default:
	}
	if g.IntN(4) == 0 {
		return reflect.Zero(v.Type())
	}
	return g.pick(v.Type())
}

func (g *generator) changedList(v reflect.Value) reflect.Value {
	n := v.Len()
	list := reflect.AppendSlice(reflect.MakeSlice(v.Type(), 0, n+1), v)
	switch what := g.IntN(6); {
	case n == 0 || what == 0:
		list = reflect.Append(list, g.pick(v.Type().Elem()))
		reflect.Swapper(list.Interface())(g.IntN(n+1), n)
	case what == 1:
		at := g.IntN(n)
		list = reflect.AppendSlice(list.Slice(0, at), v.Slice(at+1, n))
	case what == 2:
		reflect.Swapper(list.Interface())(g.IntN(n), g.IntN(n))
	default:
		at := g.IntN(n)
		list.Index(at).Set(g.changed(v.Index(at)))
	}
	if list.Len() == 0 && g.IntN(2) == 0 {
		return reflect.Zero(v.Type())
	}
	return list
}

func (g *generator) changedMap(v reflect.Value) reflect.Value {
	to := reflect.MakeMap(v.Type())
	names := namesOf(v)
	for _, name := range names {
		to.SetMapIndex(name, v.MapIndex(name))
	}
	name, value := g.pick(v.Type().Key()), g.pick(v.Type().Elem())
	if len(names) > 0 && g.IntN(4) > 0 {
		name = names[g.IntN(len(names))]
		if value = g.changed(v.MapIndex(name)); g.IntN(3) == 0 {
			to.SetMapIndex(name, reflect.Value{})
			return to
		}
	}
	if value.Kind() != reflect.Pointer || !value.IsNil() { // an entry of null is an error
		to.SetMapIndex(name, value)
	}
	return to
}

// namesOf returns the names of a map in their order, so that a seed gives the same configurations in each run.
func namesOf(v reflect.Value) []reflect.Value {
	names := v.MapKeys()
	slices.SortFunc(names, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	return names
}

// TestSeedRepeatsRun checks that a seed makes the same choices again.
func TestSeedRepeatsRun(t *testing.T) {
	t.Setenv("WIDENING_SEED", "7")
	name := reflect.TypeFor[string]()
	first, _ := newGenerator(t)
	for range 3 {
		again, _ := newGenerator(t)
		if again.config(8); len(first.values[name]) != len(again.values[name]) {
			t.Fatalf("%d values, then %d", len(first.values[name]), len(again.values[name]))
		}
		for i, v := range first.values[name] {
			if other := again.values[name][i].String(); v.String() != other && !filepath.IsAbs(other) { // the folder of a run
				t.Fatalf("value %d is %q, then %q", i, v, other)
			}
		}
	}
}

func (g *generator) changedSection(v reflect.Value) reflect.Value {
	var keys []key
	for _, k := range keysOf(v.Type()) {
		weight := 1
		switch {
		case g.changes != nil && !g.changes(k):
			continue
		case k.has("none"):
		case slices.Contains([]string{"auth", "issuers", "apis", "discovery"}, k.name):
			weight = 12
		default:
			weight = 4
		}
		if !v.FieldByIndex(k.field.Index).IsZero() {
			weight *= 2
		}
		for range weight {
			keys = append(keys, k)
		}
	}
	if len(keys) == 0 {
		if g.changes != nil {
			return v
		}
		return g.pick(v.Type())
	}
	to := reflect.New(v.Type()).Elem()
	to.Set(v)
	f := to.FieldByIndex(keys[g.IntN(len(keys))].field.Index)
	f.Set(g.changed(f))
	return to
}

// isPlausible reports whether a configuration could have been loaded, as far as comparing relies on it: names are unique, and limits given.
func isPlausible(c *config.Config) bool {
	names := map[string]bool{}
	unique := func(kind, name string) bool {
		known := names[kind+name]
		names[kind+name] = true
		return !known
	}
	if c.Limits.MaxCalls == 0 {
		return false
	}
	if c.Auth != nil {
		for i := range c.Auth.Issuers {
			if !unique("issuer", c.Auth.Issuers[i].Issuer.String()) {
				return false
			}
		}
	}
	return !slices.ContainsFunc(c.APIs, func(a config.API) bool { return a.MaxInFlight == 0 }) &&
		!slices.ContainsFunc(c.Endpoints, func(e config.MCPEndpoint) bool { return !unique("endpoint", e.Name) }) &&
		!slices.ContainsFunc(c.Prompts, func(p config.Prompt) bool { return !unique("prompt", p.Name) }) &&
		!slices.ContainsFunc(c.Discovery, func(d config.Discovery) bool { return !unique("discovery", d.Name) }) &&
		!slices.ContainsFunc(c.Admin.Console.Tokens, func(a config.ConsoleToken) bool { return !unique("token", a.Name) })
}
